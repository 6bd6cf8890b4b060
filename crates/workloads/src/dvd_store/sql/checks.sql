-- Conditions on the data. Each query returns the keys of rows that violate its condition. No row means that it holds. {orders}
-- and {customers} are the ids loaded last.

-- statement: loaded-customers
SELECT customerid FROM customers
WHERE customerid <= {customers} AND (username <> CONCAT('user', customerid) OR password <> 'password'
    OR region <> CASE WHEN customerid <= {home} THEN 1 ELSE 2 END);

-- statement: order-totals
SELECT orderid FROM orders WHERE totalamount <> netamount + tax;

-- statement: order-taxes
SELECT orderid FROM orders WHERE tax <> ROUND(netamount * 0.0825, 2);

-- statement: order-amounts
SELECT o.orderid FROM orders o
JOIN (
    SELECT orderid, SUM(quantity * price) AS worth FROM orderlines l JOIN products p ON p.prod_id = l.prod_id
    WHERE orderid > {orders} GROUP BY orderid) l ON l.orderid = o.orderid
WHERE o.orderid > {orders} AND netamount <> worth;

-- statement: order-lines
SELECT o.orderid FROM orders o
LEFT JOIN (
    SELECT orderid, COUNT(*) AS found, MIN(orderlineid) AS lowest, MAX(orderlineid) AS highest
    FROM orderlines GROUP BY orderid) l ON l.orderid = o.orderid
WHERE found IS NULL OR lowest <> 1 OR highest <> found;

-- statement: line-dates
SELECT l.orderid, orderlineid FROM orderlines l JOIN orders o ON o.orderid = l.orderid WHERE l.orderdate <> o.orderdate;

-- statement: line-orders
SELECT l.orderid, orderlineid FROM orderlines l LEFT JOIN orders o ON o.orderid = l.orderid WHERE o.orderid IS NULL;

-- statement: line-products
SELECT l.orderid, orderlineid FROM orderlines l LEFT JOIN products p ON p.prod_id = l.prod_id WHERE p.prod_id IS NULL;

-- statement: order-customers
SELECT orderid FROM orders o LEFT JOIN customers c ON c.customerid = o.customerid WHERE c.customerid IS NULL;

-- The products of an order are compared by their number, their sum, and the sum of their squares.
-- statement: history
SELECT o.orderid FROM orders o
LEFT JOIN (
    SELECT orderid, COUNT(*) AS found, SUM(prod_id) AS products, SUM(CAST(prod_id AS {wide}) * prod_id) AS squares
    FROM orderlines GROUP BY orderid) l ON l.orderid = o.orderid
LEFT JOIN (
    SELECT orderid, COUNT(*) AS found, SUM(prod_id) AS products, SUM(CAST(prod_id AS {wide}) * prod_id) AS squares,
        MIN(customerid) AS lowest, MAX(customerid) AS highest
    FROM cust_hist GROUP BY orderid) h ON h.orderid = o.orderid
WHERE h.found IS NULL OR h.found <> l.found OR h.products <> l.products OR h.squares <> l.squares
    OR lowest <> customerid OR highest <> customerid;

-- statement: history-orders
SELECT h.orderid FROM cust_hist h LEFT JOIN orders o ON o.orderid = h.orderid WHERE o.orderid IS NULL;

-- statement: stock
SELECT prod_id FROM inventory WHERE quan_in_stock < 0;

-- statement: sales
SELECT i.prod_id FROM inventory i
LEFT JOIN (SELECT prod_id, SUM(quantity) AS sold FROM orderlines GROUP BY prod_id) l ON l.prod_id = i.prod_id
WHERE sales <> COALESCE(sold, 0);

-- statement: reorders
SELECT prod_id FROM reorder
WHERE quan_low NOT BETWEEN 0 AND 2 OR quan_reordered IS NULL
    OR quan_low + quan_reordered <> CASE WHEN prod_id % 10000 = 0 THEN 2500 ELSE 250 END;
