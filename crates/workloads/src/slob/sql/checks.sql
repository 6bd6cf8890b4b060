-- Conditions on one table. Each query returns a single row of numbers.

-- How many rows there are, the lowest and the highest key, and how many keys.
-- statement: keys
SELECT COUNT(*), MIN(custid), MAX(custid), COUNT(DISTINCT custid) FROM {table};

-- Rows whose text does not have the right length.
-- statement: text
SELECT COUNT(*) FROM {table} WHERE COALESCE(LENGTH(c2) + LENGTH(c3) + LENGTH(c4) + LENGTH(c5) + LENGTH(c6) + LENGTH(c7)
    + LENGTH(c8) + LENGTH(c9) + LENGTH(c10) + LENGTH(c11) + LENGTH(c12) + LENGTH(c13) + LENGTH(c14) + LENGTH(c15)
    + LENGTH(c16) + LENGTH(c17) + LENGTH(c18) + LENGTH(c19) + LENGTH(c20), 0) <> 2432;

-- How often rows were changed in total.
-- statement: changes
SELECT SUM(changes) FROM {table};
