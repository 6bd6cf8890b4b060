-- The five transactions in the database. Each executes what a client would send for it, and returns what a terminal shows.
-- They are functions, because calling a procedure costs the server more. STRICT fails unless it gets one row. "shown" is text
-- for the terminal.

-- Lists have an entry for each line. An order with an item that does not exist has no total. All its work is undone.
CREATE OR REPLACE FUNCTION new_order(
    warehouse_id INTEGER, district_id INTEGER, customer_id INTEGER, moment BIGINT, all_local INTEGER,
    numbers INTEGER[], items INTEGER[], suppliers INTEGER[], quantities INTEGER[],
    OUT order_id INTEGER, OUT total BIGINT, OUT branded INTEGER, OUT shown TEXT)
LANGUAGE plpgsql AS $$
DECLARE
    warehouse_tax INTEGER;
    district_tax INTEGER;
    discount INTEGER;
    customer_name TEXT;
    customer_credit TEXT;
    price BIGINT;
    item_name TEXT;
    item_data TEXT;
    left_in_stock INTEGER;
    stock_data TEXT;
    information TEXT;
    amounts BIGINT[];
    district_information TEXT[];
    is_complete BOOLEAN := TRUE;
BEGIN
    BEGIN
        SELECT w_tax INTO STRICT warehouse_tax FROM warehouse WHERE w_id = warehouse_id;
        UPDATE district SET d_next_o_id = d_next_o_id + 1
        WHERE d_w_id = warehouse_id AND d_id = district_id
        RETURNING d_tax, d_next_o_id - 1 INTO STRICT district_tax, order_id;
        SELECT c_discount, c_last, c_credit INTO STRICT discount, customer_name, customer_credit
        FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_id = customer_id;
        INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
        VALUES (warehouse_id, district_id, order_id, customer_id, moment, NULL, cardinality(items), all_local);
        INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (warehouse_id, district_id, order_id);
        total := 0;
        branded := 0;
        shown := concat_ws(' ', customer_name, customer_credit, discount, warehouse_tax, district_tax);
        FOR line IN 1 .. cardinality(items) LOOP
            SELECT i_price, i_name, i_data INTO price, item_name, item_data FROM item WHERE i_id = items[line];
            IF NOT FOUND THEN
                is_complete := FALSE;
                EXIT;
            END IF;
            UPDATE stock SET
                s_quantity = CASE WHEN s_quantity >= quantities[line] + 10 THEN s_quantity - quantities[line]
                    ELSE s_quantity - quantities[line] + 91 END,
                s_ytd = s_ytd + quantities[line],
                s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + CASE WHEN suppliers[line] = warehouse_id THEN 0 ELSE 1 END
            WHERE s_w_id = suppliers[line] AND s_i_id = items[line]
            RETURNING s_quantity, s_data, CASE district_id
                WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
            INTO STRICT left_in_stock, stock_data, information;
            amounts[line] := price * quantities[line];
            district_information[line] := information;
            total := total + amounts[line];
            IF strpos(item_data, 'ORIGINAL') > 0 AND strpos(stock_data, 'ORIGINAL') > 0 THEN
                branded := branded + 1;
            END IF;
            shown := concat_ws(' ', shown, item_name, left_in_stock, price);
        END LOOP;
        INSERT INTO order_line
            (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount,
            ol_dist_info)
        SELECT warehouse_id, district_id, order_id, number, item, supplier, NULL, quantity, amount, text
        FROM unnest(numbers, items, suppliers, quantities, amounts, district_information)
            AS line (number, item, supplier, quantity, amount, text)
        WHERE amount IS NOT NULL;
        IF NOT is_complete THEN
            RAISE EXCEPTION 'an item does not exist' USING ERRCODE = 'U0001';
        END IF;
        total := (total * (10000 - discount) * (10000 + warehouse_tax + district_tax) + 50000000) / 100000000;
    EXCEPTION WHEN SQLSTATE 'U0001' THEN
        total := NULL;
    END;
END;
$$;

-- Of several customers with the name, it is the middle one by first name. Of an even number, the first of the two.
CREATE OR REPLACE FUNCTION customer_of_name(warehouse_id INTEGER, district_id INTEGER, last_name TEXT) RETURNS INTEGER
LANGUAGE plpgsql STABLE AS $$
DECLARE
    found_ids INTEGER[];
BEGIN
    SELECT array_agg(c_id ORDER BY c_first, c_id) INTO found_ids
    FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_last = last_name;
    IF found_ids IS NULL THEN
        RAISE NO_DATA_FOUND USING MESSAGE = 'no customer has the name ' || last_name;
    END IF;
    RETURN found_ids[(cardinality(found_ids) + 1) / 2];
END;
$$;

-- The customer's id is null if the customer is given by name.
CREATE OR REPLACE FUNCTION payment(
    warehouse_id INTEGER, district_id INTEGER, home_warehouse INTEGER, home_district INTEGER, given_customer INTEGER,
    last_name TEXT, amount BIGINT, moment BIGINT, OUT balance BIGINT, OUT shown TEXT)
LANGUAGE plpgsql AS $$
DECLARE
    customer_id INTEGER := given_customer;
    at_warehouse RECORD;
    at_district RECORD;
    payer RECORD;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = warehouse_id
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip INTO STRICT at_warehouse;
    UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = warehouse_id AND d_id = district_id
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip INTO STRICT at_district;
    IF customer_id IS NULL THEN
        customer_id := customer_of_name(home_warehouse, home_district, last_name);
    END IF;
    UPDATE customer SET
        c_balance = c_balance - amount,
        c_ytd_payment = c_ytd_payment + amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN substr(concat(concat_ws(' ', customer_id, home_district, home_warehouse, district_id, warehouse_id,
                concat(amount / 100, '.', lpad((amount % 100)::TEXT, 2, '0'))), '|', c_data), 1, 500)
            ELSE c_data END
    WHERE c_w_id = home_warehouse AND c_d_id = home_district AND c_id = customer_id
    RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
        c_credit_lim, c_discount, c_balance, CASE WHEN c_credit = 'BC' THEN substr(c_data, 1, 200) END AS c_data
    INTO STRICT payer;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (customer_id, home_district, home_warehouse, district_id, warehouse_id, moment, amount,
        at_warehouse.w_name || '    ' || at_district.d_name);
    balance := payer.c_balance;
    shown := concat(at_warehouse, at_district, payer);
END;
$$;

-- A row for each line of the customer's last order.
CREATE OR REPLACE FUNCTION order_status(
    warehouse_id INTEGER, district_id INTEGER, given_customer INTEGER, last_name TEXT)
RETURNS TABLE (
    order_id INTEGER, promised_lines INTEGER, item INTEGER, supplier INTEGER, quantity INTEGER, amount BIGINT,
    delivered BIGINT, shown TEXT)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    customer_id INTEGER := given_customer;
    customer RECORD;
    last_order RECORD;
BEGIN
    IF customer_id IS NULL THEN
        customer_id := customer_of_name(warehouse_id, district_id, last_name);
    END IF;
    SELECT c_balance, c_first, c_middle, c_last INTO STRICT customer
    FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_id = customer_id;
    SELECT o_id, o_entry_d, o_carrier_id, o_ol_cnt INTO STRICT last_order
    FROM orders WHERE o_w_id = warehouse_id AND o_d_id = district_id AND o_c_id = customer_id
    ORDER BY o_id DESC LIMIT 1;
    RETURN QUERY SELECT last_order.o_id, last_order.o_ol_cnt, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_delivery_d, concat(customer, last_order)
    FROM order_line WHERE ol_w_id = warehouse_id AND ol_d_id = district_id AND ol_o_id = last_order.o_id;
END;
$$;

-- "shown" is the order of each district.
CREATE OR REPLACE FUNCTION delivery(
    warehouse_id INTEGER, carrier INTEGER, moment BIGINT, OUT delivered INTEGER, OUT shown TEXT)
LANGUAGE plpgsql AS $$
DECLARE
    order_id INTEGER;
    customer_id INTEGER;
    promised_lines INTEGER;
    lines INTEGER;
    amount BIGINT;
BEGIN
    delivered := 0;
    FOR district IN 1 .. 10 LOOP
        DELETE FROM new_order
        WHERE no_w_id = warehouse_id AND no_d_id = district AND no_o_id = (
            SELECT no_o_id FROM new_order WHERE no_w_id = warehouse_id AND no_d_id = district
            ORDER BY no_o_id LIMIT 1 FOR UPDATE)
        RETURNING no_o_id INTO order_id;
        CONTINUE WHEN NOT FOUND;
        UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = warehouse_id AND o_d_id = district AND o_id = order_id
        RETURNING o_c_id, o_ol_cnt INTO STRICT customer_id, promised_lines;
        WITH delivered_lines AS (
            UPDATE order_line SET ol_delivery_d = moment
            WHERE ol_w_id = warehouse_id AND ol_d_id = district AND ol_o_id = order_id
            RETURNING ol_amount)
        SELECT count(*), sum(ol_amount) INTO lines, amount FROM delivered_lines;
        IF lines <> promised_lines THEN
            RAISE EXCEPTION '% lines of order %, which has %', lines, order_id, promised_lines;
        END IF;
        UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = warehouse_id AND c_d_id = district AND c_id = customer_id
        RETURNING c_id INTO STRICT customer_id;
        delivered := delivered + 1;
        shown := concat_ws(' ', shown, concat(district, ':', order_id));
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION stock_level(
    warehouse_id INTEGER, district_id INTEGER, threshold INTEGER, OUT low BIGINT)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    next_order INTEGER;
BEGIN
    SELECT d_next_o_id INTO STRICT next_order FROM district WHERE d_w_id = warehouse_id AND d_id = district_id;
    SELECT COUNT(DISTINCT s_i_id) INTO STRICT low
    FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = warehouse_id AND ol_d_id = district_id AND ol_o_id >= next_order - 20 AND ol_o_id < next_order
        AND s_quantity < threshold;
END;
$$;
