-- The tables. They are stored in the order of their primary keys, so they have these keys from the start. Text compares by
-- the database's default collation. The server does not return blanks at the end of a text.

-- statement: rows
CREATE TABLE {table} (
    id INTEGER NOT NULL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '',
    PRIMARY KEY (id)
) ENGINE = InnoDB;

-- statement: rows-numbered
CREATE TABLE {table} (
    id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '',
    pad CHAR(60) NOT NULL DEFAULT '',
    PRIMARY KEY (id)
) ENGINE = InnoDB;

-- For ids that clients spread over more than four bytes.
-- statement: rows-of-wide-ids
CREATE TABLE {table} (
    id BIGINT NOT NULL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '',
    PRIMARY KEY (id)
) ENGINE = InnoDB;

-- The server numbers rows only if an index gives it the highest number.
-- statement: rows-without-key
CREATE TABLE {table} (
    id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '',
    pad CHAR(60) NOT NULL DEFAULT '',
    KEY {table}_xid (id)
) ENGINE = InnoDB;

-- statement: wide-rows-without-key
CREATE TABLE {table} (
    id BIGINT NOT NULL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '',
    KEY {table}_xid (id)
) ENGINE = InnoDB;

-- statement: numbers-only
CREATE TABLE {table} (id INTEGER NOT NULL, k INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (id)) ENGINE = InnoDB;

-- statement: k-index
CREATE INDEX {table}_k ON {table} (k);
