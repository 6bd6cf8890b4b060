-- Tables for scans have no index. The index on keys is dense and small, so it stays cached even if the table does not.

CREATE INDEX {table}_by_custid ON {table} (custid) WITH (fillfactor = 100);
