-- The statements of the operations. {table} and {scan_table} are the tables of one schema. Every statement is prepared
-- for each schema. A statement is a transaction by itself, so an update is committed when the answer arrives.
-- Counting the values of a text column makes the database look into each row and not only into the index.

-- statement: read
SELECT COUNT(c2) FROM {table} WHERE custid BETWEEN $1 AND $2;

-- statement: update-lite
UPDATE {table} SET changes = changes + 1, c2 = $1, c20 = $2 WHERE custid BETWEEN $3 AND $4;

-- statement: update-heavy
UPDATE {table} SET changes = changes + 1, c2 = $1, c3 = $2, c4 = $3, c5 = $4, c6 = $5, c7 = $6, c8 = $7, c9 = $8,
    c10 = $9, c11 = $10, c12 = $11, c13 = $12, c14 = $13, c15 = $14, c16 = $15, c17 = $16, c18 = $17, c19 = $18,
    c20 = $19
WHERE custid BETWEEN $20 AND $21;

-- statement: scan
SELECT COUNT(c2) FROM {scan_table};
