-- The server reports the order's id with its answer.
-- statement: insert-order
INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount) VALUES ($1, $2, $3, $4, $5);

-- statement: insert-line-here
INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate) VALUES ($1, LAST_INSERT_ID(), $2, $3, $4);

-- statement: insert-history-here
INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES ($1, LAST_INSERT_ID(), $2);
