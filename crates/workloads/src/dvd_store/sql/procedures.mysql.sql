-- Login and purchase in the database. Each executes what a client would send for it. Text compares by its bytes, as in the
-- tables, whatever the database's collation is.

-- A customer without history has one row.
DROP PROCEDURE IF EXISTS login;
CREATE PROCEDURE login(
    user_name VARCHAR(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    pass_word VARCHAR(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
READS SQL DATA
BEGIN
    DECLARE customer_id INTEGER;
    DECLARE EXIT HANDLER FOR NOT FOUND SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'login: there is no such customer';
    SELECT customerid INTO customer_id FROM customers WHERE username = user_name AND password = pass_word;
    SELECT customer_id, bought, acted, related
    FROM (SELECT 1) one
    LEFT JOIN (
        SELECT p.title AS bought, p.actor AS acted, r.title AS related
        FROM cust_hist c
        JOIN products p ON p.prod_id = c.prod_id
        JOIN products r ON r.prod_id = p.common_prod_id
        WHERE c.customerid = customer_id
        ORDER BY c.orderid DESC, c.prod_id
        LIMIT 10) h ON TRUE;
END;

-- Lists have an entry for each line. An order that cannot be filled has no total, and is rolled back.
DROP PROCEDURE IF EXISTS purchase;
CREATE PROCEDURE purchase(customer_id INTEGER, today DATE, items VARCHAR(1000), quantities VARCHAR(1000))
MODIFIES SQL DATA
BEGIN
    DECLARE order_id, line, line_count, item, quantity INTEGER DEFAULT 0;
    DECLARE item_price, net, sales_tax NUMERIC(12, 2) DEFAULT 0;
    DECLARE is_filled BOOLEAN DEFAULT TRUE;
    DECLARE item_list VARCHAR(1002) DEFAULT CONCAT('[', items, ']');
    DECLARE quantity_list VARCHAR(1002) DEFAULT CONCAT('[', quantities, ']');
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    DECLARE EXIT HANDLER FOR NOT FOUND
    BEGIN
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'purchase: a product is missing';
    END;
    SET line_count = JSON_LENGTH(item_list);
    START TRANSACTION READ WRITE;
    WHILE line < line_count DO
        SET item = JSON_EXTRACT(item_list, CONCAT('$[', line, ']'));
        SET quantity = JSON_EXTRACT(quantity_list, CONCAT('$[', line, ']'));
        SELECT price INTO item_price FROM products WHERE prod_id = item;
        SET net = net + item_price * quantity, line = line + 1;
    END WHILE;
    SET sales_tax = ROUND(net * 0.0825, 2);
    INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount)
    VALUES (today, customer_id, net, sales_tax, net + sales_tax);
    SET order_id = LAST_INSERT_ID(), line = 0;
    WHILE line < line_count AND is_filled DO
        SET item = JSON_EXTRACT(item_list, CONCAT('$[', line, ']'));
        SET quantity = JSON_EXTRACT(quantity_list, CONCAT('$[', line, ']'));
        SET line = line + 1;
        UPDATE inventory SET quan_in_stock = quan_in_stock - quantity, sales = sales + quantity
        WHERE prod_id = item AND quan_in_stock >= quantity;
        IF ROW_COUNT() = 1 THEN
            INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate)
            VALUES (line, order_id, item, quantity, today);
            INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES (customer_id, order_id, item);
        ELSE
            SET is_filled = FALSE;
        END IF;
    END WHILE;
    IF is_filled THEN
        COMMIT;
        SELECT order_id, net + sales_tax AS total;
    ELSE
        ROLLBACK;
        SELECT order_id, NULL AS total;
    END IF;
END;
