-- statement: insert-line-here
INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate)
VALUES ($1, currval('orders_orderid_seq'), $2, $3, $4);

-- statement: insert-history-here
INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES ($1, currval('orders_orderid_seq'), $2);
