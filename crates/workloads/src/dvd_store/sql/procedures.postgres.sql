-- Login and purchase in the database. Each executes what a client would send for it.

-- A customer without history has one row.
CREATE OR REPLACE FUNCTION login(user_name TEXT, pass_word TEXT)
RETURNS TABLE (customer_id INTEGER, bought TEXT, acted TEXT, related TEXT)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT customerid INTO STRICT customer_id FROM customers WHERE username = user_name AND password = pass_word;
    RETURN QUERY
    SELECT customer_id, h.bought, h.acted, h.related
    FROM (SELECT 1) one
    LEFT JOIN (
        SELECT CAST(p.title AS TEXT) AS bought, CAST(p.actor AS TEXT) AS acted, CAST(r.title AS TEXT) AS related
        FROM cust_hist c
        JOIN products p ON p.prod_id = c.prod_id
        JOIN products r ON r.prod_id = p.common_prod_id
        WHERE c.customerid = customer_id
        ORDER BY c.orderid DESC, c.prod_id
        LIMIT 10) h ON TRUE;
END;
$$;

-- Lists have an entry for each line. An order that cannot be filled has no total. All its work is undone.
CREATE OR REPLACE FUNCTION purchase(
    customer_id INTEGER, today DATE, items INTEGER[], quantities INTEGER[],
    OUT order_id INTEGER, OUT total NUMERIC(12, 2))
LANGUAGE plpgsql AS $$
DECLARE
    net NUMERIC(12, 2);
    sales_tax NUMERIC(12, 2);
BEGIN
    BEGIN
        SELECT SUM(price * quantity) INTO STRICT net
        FROM unnest(items, quantities) AS line (item, quantity) JOIN products ON prod_id = item;
        sales_tax := round(net * 0.0825, 2);
        INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount)
        VALUES (today, customer_id, net, sales_tax, net + sales_tax)
        RETURNING orderid INTO STRICT order_id;
        FOR line IN 1 .. cardinality(items) LOOP
            UPDATE inventory
            SET quan_in_stock = quan_in_stock - quantities[line], sales = sales + quantities[line]
            WHERE prod_id = items[line] AND quan_in_stock >= quantities[line];
            IF NOT FOUND THEN
                RAISE EXCEPTION USING ERRCODE = 'BKOFF', MESSAGE = 'out of stock';
            END IF;
        END LOOP;
        INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate)
        SELECT number, order_id, item, quantity, today
        FROM unnest(items, quantities) WITH ORDINALITY AS line (item, quantity, number);
        INSERT INTO cust_hist (customerid, orderid, prod_id)
        SELECT customer_id, order_id, item FROM unnest(items) AS item;
        total := net + sales_tax;
    EXCEPTION WHEN SQLSTATE 'BKOFF' THEN
        total := NULL;
    END;
END;
$$;
