-- Tables for scans have no index. That on keys is dense and small, so it stays cached where the table does not.

CREATE INDEX {table}_by_custid ON {table} (custid);
