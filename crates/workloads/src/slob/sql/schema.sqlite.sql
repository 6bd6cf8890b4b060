-- A row takes more than half of a page of 4 KiB and less than all of it, so each row has its own page. Rows are stored
-- in the order in which they were loaded.

CREATE TABLE {table} (
    custid INTEGER NOT NULL, changes INTEGER NOT NULL, c2 TEXT, c3 TEXT, c4 TEXT, c5 TEXT, c6 TEXT, c7 TEXT, c8 TEXT,
    c9 TEXT, c10 TEXT, c11 TEXT, c12 TEXT, c13 TEXT, c14 TEXT, c15 TEXT, c16 TEXT, c17 TEXT, c18 TEXT, c19 TEXT,
    c20 TEXT
);
