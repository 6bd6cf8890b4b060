-- Login and purchase, where the client executes them.

-- statement: login
SELECT customerid FROM customers WHERE username = $1 AND password = $2;

-- What the customer bought last, and what others buy with it.
-- statement: history
SELECT bought.title, bought.actor, related.title FROM cust_hist h
JOIN products bought ON bought.prod_id = h.prod_id
JOIN products related ON related.prod_id = bought.common_prod_id
WHERE h.customerid = (SELECT customerid FROM customers WHERE username = $1)
ORDER BY h.orderid DESC, h.prod_id
LIMIT 10;

-- Of the products in a cart. A shorter cart repeats one of them.
-- statement: prices
SELECT prod_id, price FROM products WHERE prod_id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19);

-- statement: insert-order
INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount) VALUES ($1, $2, $3, $4, $5)
RETURNING orderid;

-- It changes nothing if there is too little in stock.
-- statement: take-stock
UPDATE inventory SET quan_in_stock = quan_in_stock - $1, sales = sales + $1
WHERE prod_id = $2 AND quan_in_stock >= $1;

-- statement: insert-line
INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate) VALUES ($1, $2, $3, $4, $5);

-- statement: insert-history
INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES ($1, $2, $3);

-- The same for the order that the transaction has just inserted. Nobody else can have inserted one since.
-- statement: insert-line-here
INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate)
VALUES ($1, (SELECT max(orderid) FROM orders), $2, $3, $4);

-- statement: insert-history-here
INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES ($1, (SELECT max(orderid) FROM orders), $2);
