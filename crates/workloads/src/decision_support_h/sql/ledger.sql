-- Sums that a run changes by known amounts. Each query returns one number.

-- statement: orders
SELECT COUNT(*) FROM orders;

-- statement: inserted
SELECT inserted FROM refresh_sets WHERE id = 1;

-- statement: deleted
SELECT deleted FROM refresh_sets WHERE id = 1;
