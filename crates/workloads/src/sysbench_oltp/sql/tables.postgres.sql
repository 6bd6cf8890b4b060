-- The tables. Rows are loaded first and keys added later: an index is built faster from all rows than row by row.

-- statement: rows
CREATE TABLE {table} (
    id INTEGER NOT NULL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT ''
);

-- statement: rows-numbered
CREATE TABLE {table} (
    id SERIAL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT ''
);

-- For ids that clients spread over more than four bytes.
-- statement: rows-of-wide-ids
CREATE TABLE {table} (
    id BIGINT NOT NULL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT ''
);

-- statement: numbers-only
CREATE TABLE {table} (id INTEGER NOT NULL, k INTEGER NOT NULL DEFAULT 0);

-- statement: primary-key
ALTER TABLE {table} ADD PRIMARY KEY (id);

-- statement: id-index
CREATE INDEX {table}_xid ON {table} (id);

-- statement: k-index
CREATE INDEX {table}_k ON {table} (k);

-- Rows were loaded with their ids. The ids of new rows continue after them.
-- statement: numbering
ALTER SEQUENCE {table}_id_seq RESTART WITH {next};
