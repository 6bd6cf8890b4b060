-- The five transactions in the database. Each executes what a client would send for it, and returns what a terminal shows.
-- "shown" is text for the terminal. Text compares by its bytes, as in the tables, whatever the database's collation is.

-- "ordered" has a list for each line: its number, item, supplier and quantity, and how often the item of the supplier was in the
-- lines before it. An UPDATE changes a row once, whatever number of lines it belongs to. So each turn takes what is in the lines
-- for the first time, for the second time, and so on; there is seldom a second turn. An order with an item that does not exist has
-- no total, and is rolled back. Rows that many orders want are locked last.
DROP PROCEDURE IF EXISTS new_order;
CREATE PROCEDURE new_order(
    warehouse_id INTEGER, district_id INTEGER, customer_id INTEGER, moment BIGINT, all_local INTEGER,
    ordered VARCHAR(1000))
MODIFIES SQL DATA
BEGIN
    DECLARE warehouse_tax, district_tax, discount, order_id, branded, line_count, line_turn, taken, taken_now INTEGER DEFAULT 0;
    DECLARE total BIGINT;
    DECLARE customer_name, customer_credit VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE shown VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    DECLARE EXIT HANDLER FOR NOT FOUND
    BEGIN
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'new_order: a row is missing';
    END;
    SET line_count = JSON_LENGTH(ordered);
    START TRANSACTION READ WRITE;
    SELECT w_tax INTO warehouse_tax FROM warehouse WHERE w_id = warehouse_id;
    SELECT c_discount, c_last, c_credit INTO discount, customer_name, customer_credit
    FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_id = customer_id;
    REPEAT
        UPDATE JSON_TABLE(ordered, '$[*]' COLUMNS (
                item INTEGER PATH '$[1]', supplier INTEGER PATH '$[2]', quantity INTEGER PATH '$[3]',
                turn INTEGER PATH '$[4]')) AS line
            STRAIGHT_JOIN stock ON s_w_id = supplier AND s_i_id = item
        SET
            s_quantity = CASE WHEN s_quantity >= quantity + 10 THEN s_quantity - quantity
                ELSE s_quantity - quantity + 91 END,
            s_ytd = s_ytd + quantity,
            s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN supplier = warehouse_id THEN 0 ELSE 1 END
        WHERE turn = line_turn;
        SET taken_now = ROW_COUNT(), taken = taken + taken_now, line_turn = line_turn + 1;
    UNTIL taken_now = 0 OR taken = line_count END REPEAT;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = warehouse_id AND d_id = district_id;
    SELECT d_tax, d_next_o_id - 1 INTO district_tax, order_id
    FROM district WHERE d_w_id = warehouse_id AND d_id = district_id;
    IF taken = line_count THEN
        INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
        VALUES (warehouse_id, district_id, order_id, customer_id, moment, NULL, line_count, all_local);
        INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (warehouse_id, district_id, order_id);
        INSERT INTO order_line
            (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount,
            ol_dist_info)
        SELECT STRAIGHT_JOIN
            warehouse_id, district_id, order_id, number, item, supplier, NULL, quantity, i_price * quantity,
            CASE district_id
                WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
        FROM JSON_TABLE(ordered, '$[*]' COLUMNS (
                number INTEGER PATH '$[0]', item INTEGER PATH '$[1]', supplier INTEGER PATH '$[2]',
                quantity INTEGER PATH '$[3]')) AS line
            JOIN item ON i_id = item
            JOIN stock ON s_w_id = supplier AND s_i_id = item;
        IF ROW_COUNT() <> line_count THEN
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'new_order: an item with a stock is missing';
        END IF;
        SELECT STRAIGHT_JOIN
            SUM(ol_amount), SUM(LOCATE('ORIGINAL', i_data) > 0 AND LOCATE('ORIGINAL', s_data) > 0),
            GROUP_CONCAT(i_name, ' ', s_quantity, ' ', i_price SEPARATOR ' ')
        INTO total, branded, shown
        FROM order_line
            JOIN item ON i_id = ol_i_id
            JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = warehouse_id AND ol_d_id = district_id AND ol_o_id = order_id;
        COMMIT;
        SET total = (total * (10000 - discount) * (10000 + warehouse_tax + district_tax) + 50000000) DIV 100000000;
    ELSE
        ROLLBACK;
    END IF;
    SELECT order_id, total, branded,
        CONCAT_WS(' ', customer_name, customer_credit, discount, warehouse_tax, district_tax, shown) AS shown;
END;

-- Of several customers with the name, it is the middle one by first name. Of an even number, the first of the two.
DROP PROCEDURE IF EXISTS customer_of_name;
CREATE PROCEDURE customer_of_name(
    warehouse_id INTEGER, district_id INTEGER, last_name VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    OUT customer_id INTEGER)
READS SQL DATA
BEGIN
    DECLARE before_middle INTEGER;
    SELECT (COUNT(*) + 1) DIV 2 - 1 INTO before_middle
    FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_last = last_name;
    IF before_middle < 0 THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no customer has the name';
    END IF;
    SELECT c_id INTO customer_id
    FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_last = last_name
    ORDER BY c_first, c_id LIMIT before_middle, 1;
END;

-- The customer's id is null if the customer is given by name.
DROP PROCEDURE IF EXISTS payment;
CREATE PROCEDURE payment(
    warehouse_id INTEGER, district_id INTEGER, home_warehouse INTEGER, home_district INTEGER, customer_id INTEGER,
    last_name VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, amount BIGINT, moment BIGINT)
MODIFIES SQL DATA
BEGIN
    DECLARE balance BIGINT;
    DECLARE warehouse_name, district_name VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE at_warehouse, at_district, payer VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    DECLARE EXIT HANDLER FOR NOT FOUND
    BEGIN
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'payment: a row is missing';
    END;
    START TRANSACTION READ WRITE;
    IF customer_id IS NULL THEN
        CALL customer_of_name(home_warehouse, home_district, last_name, customer_id);
    END IF;
    UPDATE customer SET
        c_balance = c_balance - amount,
        c_ytd_payment = c_ytd_payment + amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN SUBSTR(CONCAT(CONCAT_WS(' ', customer_id, home_district, home_warehouse, district_id, warehouse_id,
                CONCAT(amount DIV 100, '.', LPAD(amount MOD 100, 2, '0'))), '|', c_data), 1, 500)
            ELSE c_data END
    WHERE c_w_id = home_warehouse AND c_d_id = home_district AND c_id = customer_id;
    SELECT c_balance, CONCAT_WS(' ', c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
        c_since, c_credit, c_credit_lim, c_discount, c_balance, CASE WHEN c_credit = 'BC' THEN SUBSTR(c_data, 1, 200) END)
    INTO balance, payer
    FROM customer WHERE c_w_id = home_warehouse AND c_d_id = home_district AND c_id = customer_id;
    UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = warehouse_id AND d_id = district_id;
    SELECT d_name, CONCAT_WS(' ', d_street_1, d_street_2, d_city, d_state, d_zip) INTO district_name, at_district
    FROM district WHERE d_w_id = warehouse_id AND d_id = district_id;
    UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = warehouse_id;
    SELECT w_name, CONCAT_WS(' ', w_street_1, w_street_2, w_city, w_state, w_zip) INTO warehouse_name, at_warehouse
    FROM warehouse WHERE w_id = warehouse_id;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (customer_id, home_district, home_warehouse, district_id, warehouse_id, moment, amount,
        CONCAT(warehouse_name, '    ', district_name));
    COMMIT;
    SELECT balance, CONCAT_WS(' ', warehouse_name, at_warehouse, district_name, at_district, payer) AS shown;
END;

-- A row for each line of the customer's last order.
DROP PROCEDURE IF EXISTS order_status;
CREATE PROCEDURE order_status(
    warehouse_id INTEGER, district_id INTEGER, customer_id INTEGER,
    last_name VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
READS SQL DATA
BEGIN
    DECLARE order_id, promised_lines, carrier INTEGER;
    DECLARE entered BIGINT;
    DECLARE customer VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    DECLARE EXIT HANDLER FOR NOT FOUND
    BEGIN
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'order_status: a row is missing';
    END;
    START TRANSACTION READ ONLY;
    IF customer_id IS NULL THEN
        CALL customer_of_name(warehouse_id, district_id, last_name, customer_id);
    END IF;
    SELECT CONCAT_WS(' ', c_balance, c_first, c_middle, c_last) INTO customer
    FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_id = customer_id;
    SELECT o_id, o_entry_d, o_carrier_id, o_ol_cnt INTO order_id, entered, carrier, promised_lines
    FROM orders WHERE o_w_id = warehouse_id AND o_d_id = district_id AND o_c_id = customer_id
    ORDER BY o_id DESC LIMIT 1;
    SELECT order_id, promised_lines, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d,
        CONCAT_WS(' ', customer, entered, carrier) AS shown
    FROM order_line WHERE ol_w_id = warehouse_id AND ol_d_id = district_id AND ol_o_id = order_id;
    COMMIT;
END;

-- "shown" is the order of each district.
DROP PROCEDURE IF EXISTS delivery;
CREATE PROCEDURE delivery(warehouse_id INTEGER, carrier INTEGER, moment BIGINT)
MODIFIES SQL DATA
BEGIN
    DECLARE delivered INTEGER DEFAULT 0;
    DECLARE district INTEGER DEFAULT 1;
    DECLARE order_id, customer_id, promised_lines, line_count INTEGER;
    DECLARE amount BIGINT;
    DECLARE shown VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    DECLARE EXIT HANDLER FOR NOT FOUND
    BEGIN
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'delivery: a row is missing';
    END;
    START TRANSACTION READ WRITE;
    WHILE district <= 10 DO
        BEGIN
            DECLARE CONTINUE HANDLER FOR NOT FOUND SET order_id = NULL;
            SELECT no_o_id INTO order_id FROM new_order WHERE no_w_id = warehouse_id AND no_d_id = district
            ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        END;
        IF order_id IS NOT NULL THEN
            DELETE FROM new_order WHERE no_w_id = warehouse_id AND no_d_id = district AND no_o_id = order_id;
            UPDATE orders SET o_carrier_id = carrier
            WHERE o_w_id = warehouse_id AND o_d_id = district AND o_id = order_id;
            SELECT o_c_id, o_ol_cnt INTO customer_id, promised_lines
            FROM orders WHERE o_w_id = warehouse_id AND o_d_id = district AND o_id = order_id;
            UPDATE order_line SET ol_delivery_d = moment
            WHERE ol_w_id = warehouse_id AND ol_d_id = district AND ol_o_id = order_id;
            SELECT COUNT(*), SUM(ol_amount) INTO line_count, amount
            FROM order_line WHERE ol_w_id = warehouse_id AND ol_d_id = district AND ol_o_id = order_id;
            IF line_count <> promised_lines THEN
                SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'delivery: an order has not as many lines as it promises';
            END IF;
            UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = warehouse_id AND c_d_id = district AND c_id = customer_id;
            IF ROW_COUNT() <> 1 THEN
                SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'delivery: the customer of an order is missing';
            END IF;
            SET delivered = delivered + 1, shown = CONCAT_WS(' ', shown, CONCAT(district, ':', order_id));
        END IF;
        SET district = district + 1;
    END WHILE;
    COMMIT;
    SELECT delivered, shown;
END;

DROP PROCEDURE IF EXISTS stock_level;
CREATE PROCEDURE stock_level(warehouse_id INTEGER, district_id INTEGER, threshold INTEGER)
READS SQL DATA
BEGIN
    DECLARE next_order INTEGER;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    DECLARE EXIT HANDLER FOR NOT FOUND
    BEGIN
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'stock_level: the district is missing';
    END;
    START TRANSACTION READ ONLY;
    SELECT d_next_o_id INTO next_order FROM district WHERE d_w_id = warehouse_id AND d_id = district_id;
    SELECT COUNT(DISTINCT s_i_id) AS low
    FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = warehouse_id AND ol_d_id = district_id AND ol_o_id >= next_order - 20 AND ol_o_id < next_order
        AND s_quantity < threshold;
    COMMIT;
END;
