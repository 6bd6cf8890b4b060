-- Sums that a run changes by known amounts. Each query returns one number for one table.

-- statement: rows
SELECT COUNT(*) FROM {table};

-- statement: sum-of-k
SELECT SUM(k) FROM {table};
