-- Statements that MariaDB and MySQL need in another form, because they have no UPDATE … RETURNING. A statement changes a
-- row, which locks it, and a second one of the same transaction reads it. That is one more round trip than elsewhere.
-- What follows "of several" reads the same rows for several requests, if they are sent together.

-- statement: take-order-number
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2;
-- then:
SELECT d_tax, d_next_o_id - 1 FROM district WHERE d_w_id = $1 AND d_id = $2;

-- statement: item
SELECT i_price, i_name, i_data FROM item WHERE i_id = $1;
-- of several:
SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ($1, ...);

-- $1 quantity, $2 1 if the order is of another warehouse, $3 warehouse, $4 item, $5 district of the order.
-- statement: take-stock
UPDATE stock SET
    s_quantity = CASE WHEN s_quantity >= $1 + 10 THEN s_quantity - $1 ELSE s_quantity - $1 + 91 END,
    s_ytd = s_ytd + $1,
    s_order_cnt = s_order_cnt + 1,
    s_remote_cnt = s_remote_cnt + $2
WHERE s_w_id = $3 AND s_i_id = $4;
-- then:
SELECT s_quantity, s_data, CASE $5
    WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
    WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
FROM stock WHERE s_w_id = $3 AND s_i_id = $4;
-- of several:
SELECT s_w_id, s_i_id, s_quantity, s_data, CASE $5
    WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
    WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
FROM stock WHERE (s_w_id, s_i_id) IN (($3, $4), ...);

-- statement: pay-warehouse
UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2;
-- then:
SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = $2;

-- statement: pay-district
UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = $2 AND d_id = $3;
-- then:
SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = $2 AND d_id = $3;

-- $2 what is put in front of the data of a customer with bad credit, whose data is then cut at 500 letters.
-- statement: pay-customer
UPDATE customer SET
    c_balance = c_balance - $1,
    c_ytd_payment = c_ytd_payment + $1,
    c_payment_cnt = c_payment_cnt + 1,
    c_data = CASE WHEN c_credit = 'BC' THEN substr(CONCAT($2, c_data), 1, 500) ELSE c_data END
WHERE c_w_id = $3 AND c_d_id = $4 AND c_id = $5;
-- then:
SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
    c_credit_lim, c_discount, c_balance, CASE WHEN c_credit = 'BC' THEN substr(c_data, 1, 200) END
FROM customer WHERE c_w_id = $3 AND c_d_id = $4 AND c_id = $5;

-- statement: insert-history-here
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES ($1, $2, $3, $4, $5, $6, $7, (
    SELECT CONCAT(w_name, '    ', d_name) FROM warehouse JOIN district ON d_w_id = w_id WHERE w_id = $5 AND d_id = $4));

-- The oldest order is locked first. So if two deliveries meet at it, the second goes on to the next order. It is still the
-- oldest when it is deleted, because order numbers only grow.
-- statement: take-oldest-queued
SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1 FOR UPDATE;
-- then:
DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1;

-- statement: carry
UPDATE orders SET o_carrier_id = $1 WHERE o_w_id = $2 AND o_d_id = $3 AND o_id = $4;
-- then:
SELECT o_c_id, o_ol_cnt FROM orders WHERE o_w_id = $2 AND o_d_id = $3 AND o_id = $4;
-- of several:
SELECT o_w_id, o_d_id, o_id, o_c_id, o_ol_cnt FROM orders WHERE (o_w_id, o_d_id, o_id) IN (($2, $3, $4), ...);

-- statement: deliver-lines
UPDATE order_line SET ol_delivery_d = $1 WHERE ol_w_id = $2 AND ol_d_id = $3 AND ol_o_id = $4;
-- then:
SELECT ol_amount FROM order_line WHERE ol_w_id = $2 AND ol_d_id = $3 AND ol_o_id = $4;
-- of several:
SELECT ol_w_id, ol_d_id, ol_o_id, ol_amount FROM order_line WHERE (ol_w_id, ol_d_id, ol_o_id) IN (($2, $3, $4), ...);
