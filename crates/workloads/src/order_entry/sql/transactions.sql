-- The statements of the five transactions. Money is whole cents, rates are ten-thousandths, moments are microseconds
-- since 1970. A row that is read and then written is read by the statement that writes it, so that no value is lost
-- between two transactions at the isolation level "read committed".

-- New-order.

-- statement: warehouse-tax
SELECT w_tax FROM warehouse WHERE w_id = $1;

-- statement: take-order-number
UPDATE district SET d_next_o_id = d_next_o_id + 1
WHERE d_w_id = $1 AND d_id = $2
RETURNING d_tax, d_next_o_id - 1;

-- statement: customer-discount
SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3;

-- statement: insert-order
INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
VALUES ($1, $2, $3, $4, $5, NULL, $6, $7);

-- statement: insert-queued
INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES ($1, $2, $3);

-- statement: item
SELECT i_price, i_name, i_data FROM item WHERE i_id = $1;

-- $1 quantity, $2 1 if the order is of another warehouse, $3 warehouse, $4 item, $5 district of the order.
-- statement: take-stock
UPDATE stock SET
    s_quantity = CASE WHEN s_quantity >= $1 + 10 THEN s_quantity - $1 ELSE s_quantity - $1 + 91 END,
    s_ytd = s_ytd + $1,
    s_order_cnt = s_order_cnt + 1,
    s_remote_cnt = s_remote_cnt + $2
WHERE s_w_id = $3 AND s_i_id = $4
RETURNING s_quantity, s_data, CASE CAST($5 AS INTEGER)
    WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
    WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END;

-- statement: insert-line
INSERT INTO order_line
    (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
VALUES ($1, $2, $3, $4, $5, $6, NULL, $7, $8, $9);

-- Payment.

-- statement: pay-warehouse
UPDATE warehouse SET w_ytd = w_ytd + $1
WHERE w_id = $2
RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip;

-- statement: pay-district
UPDATE district SET d_ytd = d_ytd + $1
WHERE d_w_id = $2 AND d_id = $3
RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip;

-- Payment and order-status. The id comes last so that customers with the same full name have a fixed order, too.
-- statement: customers-of-name
SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first, c_id;

-- $2 what is put in front of the data of a customer with bad credit, whose data is then cut at 500 letters.
-- statement: pay-customer
UPDATE customer SET
    c_balance = c_balance - $1,
    c_ytd_payment = c_ytd_payment + $1,
    c_payment_cnt = c_payment_cnt + 1,
    c_data = CASE WHEN c_credit = 'BC' THEN substr($2 || c_data, 1, 500) ELSE c_data END
WHERE c_w_id = $3 AND c_d_id = $4 AND c_id = $5
RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
    c_credit_lim, c_discount, c_balance, CASE WHEN c_credit = 'BC' THEN substr(c_data, 1, 200) END;

-- statement: insert-history
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- The same, if the names of the places were not read before.
-- statement: insert-history-here
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES ($1, $2, $3, $4, $5, $6, $7, (
    SELECT w_name || '    ' || d_name FROM warehouse JOIN district ON d_w_id = w_id WHERE w_id = $5 AND d_id = $4));

-- Order-status.

-- statement: customer-balance
SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3;

-- statement: last-order
SELECT o_id, o_entry_d, o_carrier_id, o_ol_cnt FROM orders
WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3
ORDER BY o_id DESC LIMIT 1;

-- statement: lines-of-order
SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3;

-- Delivery.

-- statement: take-oldest-queued
DELETE FROM new_order
WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = (
    SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1)
RETURNING no_o_id;

-- statement: carry
UPDATE orders SET o_carrier_id = $1
WHERE o_w_id = $2 AND o_d_id = $3 AND o_id = $4
RETURNING o_c_id, o_ol_cnt;

-- statement: deliver-lines
UPDATE order_line SET ol_delivery_d = $1
WHERE ol_w_id = $2 AND ol_d_id = $3 AND ol_o_id = $4
RETURNING ol_amount;

-- statement: credit-delivery
UPDATE customer SET c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1
WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4;

-- Stock-level.

-- statement: next-order-number
SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2;

-- statement: low-stock
SELECT COUNT(DISTINCT s_i_id)
FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id >= $3 AND ol_o_id < $4 AND s_quantity < $5;
