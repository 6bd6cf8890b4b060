-- Conditions on one table. Each query returns a single row of numbers.

-- How many rows there are, the lowest and the highest key, and how many keys.
-- statement: keys
SELECT COUNT(*), MIN(custid), MAX(custid), COUNT(DISTINCT custid) FROM {table};

-- Rows whose text does not have the right length.
-- statement: text
SELECT COUNT(*) FROM {table} WHERE COALESCE({length}(c2) + {length}(c3) + {length}(c4) + {length}(c5) + {length}(c6) + {length}(c7)
    + {length}(c8) + {length}(c9) + {length}(c10) + {length}(c11) + {length}(c12) + {length}(c13) + {length}(c14) + {length}(c15)
    + {length}(c16) + {length}(c17) + {length}(c18) + {length}(c19) + {length}(c20), 0) <> 2432;

-- How often rows were changed in total.
-- statement: changes
SELECT SUM(changes) FROM {table};
