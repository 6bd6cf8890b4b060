-- The tables. A primary key is the row's own number, so the table is stored in the order of its ids. SQLite numbers
-- new rows by itself. Texts have no fixed length.

-- statement: rows
CREATE TABLE {table} (
    id INTEGER PRIMARY KEY, k INTEGER NOT NULL DEFAULT 0, c TEXT NOT NULL DEFAULT '', pad TEXT NOT NULL DEFAULT ''
) STRICT;

-- statement: rows-without-key
CREATE TABLE {table} (
    id INTEGER NOT NULL, k INTEGER NOT NULL DEFAULT 0, c TEXT NOT NULL DEFAULT '', pad TEXT NOT NULL DEFAULT ''
) STRICT;

-- statement: numbers-only
CREATE TABLE {table} (id INTEGER PRIMARY KEY, k INTEGER NOT NULL DEFAULT 0) STRICT;

-- statement: id-index
CREATE INDEX {table}_xid ON {table} (id);

-- statement: k-index
CREATE INDEX {table}_k ON {table} (k);
