-- Sums that a run changes by known amounts. Each query returns one number.

-- statement: customers
SELECT COUNT(*) FROM customers;

-- statement: orders
SELECT COUNT(*) FROM orders;

-- What is left in stock and what was sold, less what was ordered again, stays the same for each product. The products have
-- different weights, so that two mistakes cannot cancel out.
-- statement: stock
SELECT SUM((quan_in_stock + sales - COALESCE(added, 0)) * (i.prod_id % 9973 + 1)) FROM inventory i
LEFT JOIN (SELECT prod_id, SUM(quan_reordered) AS added FROM reorder GROUP BY prod_id) r ON r.prod_id = i.prod_id;
