-- Conditions on the data. Each query returns the keys of rows that violate its condition. No row means that it holds.

-- statement: consistency-01
SELECT w_id FROM warehouse
LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS total FROM district GROUP BY d_w_id) d ON d_w_id = w_id
WHERE w_ytd <> COALESCE(total, 0);

-- statement: consistency-02
SELECT d_w_id, d_id FROM district
LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS newest FROM orders GROUP BY o_w_id, o_d_id) o
    ON o_w_id = d_w_id AND o_d_id = d_id
LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS newest FROM new_order GROUP BY no_w_id, no_d_id) n
    ON no_w_id = d_w_id AND no_d_id = d_id
WHERE d_next_o_id - 1 <> COALESCE(o.newest, 0) OR (n.newest IS NOT NULL AND n.newest <> COALESCE(o.newest, 0));

-- statement: consistency-03
SELECT no_w_id, no_d_id FROM new_order
GROUP BY no_w_id, no_d_id
HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*);

-- statement: consistency-04
SELECT o_w_id, o_d_id FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS promised FROM orders GROUP BY o_w_id, o_d_id) o
LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) l
    ON ol_w_id = o_w_id AND ol_d_id = o_d_id
WHERE promised <> COALESCE(found, 0);

-- statement: consistency-05
SELECT o_w_id, o_d_id, o_id FROM orders
LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL);

-- statement: consistency-06
SELECT o_w_id, o_d_id, o_id FROM orders
LEFT JOIN (
    SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l
    ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE o_ol_cnt <> COALESCE(found, 0);

-- statement: consistency-07
SELECT ol_w_id, ol_d_id, ol_o_id, ol_number FROM order_line
JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL);

-- statement: consistency-08
SELECT w_id FROM warehouse
LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS total FROM history GROUP BY h_w_id) h ON h_w_id = w_id
WHERE w_ytd <> COALESCE(total, 0);

-- statement: consistency-09
SELECT d_w_id, d_id FROM district
LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS total FROM history GROUP BY h_w_id, h_d_id) h
    ON h_w_id = d_w_id AND h_d_id = d_id
WHERE d_ytd <> COALESCE(total, 0);

-- statement: consistency-10
SELECT c_w_id, c_d_id, c_id FROM customer
LEFT JOIN (
    SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders
    JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o
    ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
LEFT JOIN (
    SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) h
    ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
WHERE c_balance <> COALESCE(delivered, 0) - COALESCE(paid, 0);

-- statement: consistency-11
SELECT o_w_id, o_d_id FROM (
    SELECT o_w_id, o_d_id, COUNT(*) AS placed, COUNT(o_carrier_id) AS carried FROM orders GROUP BY o_w_id, o_d_id) o
LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS queued FROM new_order GROUP BY no_w_id, no_d_id) n
    ON no_w_id = o_w_id AND no_d_id = o_d_id
WHERE placed - COALESCE(queued, 0) <> carried;

-- statement: consistency-11-loaded
SELECT d_w_id, d_id FROM district
LEFT JOIN (SELECT o_w_id, o_d_id, COUNT(*) AS placed FROM orders GROUP BY o_w_id, o_d_id) o
    ON o_w_id = d_w_id AND o_d_id = d_id
LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS queued FROM new_order GROUP BY no_w_id, no_d_id) n
    ON no_w_id = d_w_id AND no_d_id = d_id
WHERE COALESCE(placed, 0) - COALESCE(queued, 0) <> 2100;

-- statement: consistency-12
SELECT c_w_id, c_d_id, c_id FROM customer
LEFT JOIN (
    SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders
    JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o
    ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
WHERE c_balance + c_ytd_payment <> COALESCE(delivered, 0);

-- statement: references
SELECT no_w_id, no_d_id, no_o_id FROM new_order
LEFT JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id
WHERE o_id IS NULL
UNION ALL
SELECT ol_w_id, ol_d_id, ol_o_id FROM order_line
LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE o_id IS NULL
UNION ALL
SELECT o_w_id, o_d_id, o_id FROM orders
LEFT JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id
WHERE c_id IS NULL;

-- statement: stock-quantity
SELECT s_w_id, s_i_id FROM stock WHERE s_quantity < 10 OR s_quantity > 100;

-- Orders up to number 3000 were there at the start, and took nothing from the stock.
-- statement: stock-ledger
SELECT s_w_id FROM (
    SELECT s_w_id, SUM(s_ytd) AS quantity, SUM(s_order_cnt) AS entered, SUM(s_remote_cnt) AS remote
    FROM stock GROUP BY s_w_id) s
LEFT JOIN (
    SELECT ol_supply_w_id, SUM(ol_quantity) AS quantity, COUNT(*) AS entered,
        SUM(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote
    FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id) l
    ON ol_supply_w_id = s_w_id
WHERE s.quantity <> COALESCE(l.quantity, 0) OR s.entered <> COALESCE(l.entered, 0) OR s.remote <> COALESCE(l.remote, 0);

-- statement: payment-ledger
SELECT c_w_id, c_d_id FROM (
    SELECT c_w_id, c_d_id, SUM(c_payment_cnt) AS counted FROM customer GROUP BY c_w_id, c_d_id) c
LEFT JOIN (SELECT h_c_w_id, h_c_d_id, COUNT(*) AS found FROM history GROUP BY h_c_w_id, h_c_d_id) h
    ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id
WHERE counted <> COALESCE(found, 0);

-- statement: delivery-ledger
SELECT c_w_id, c_d_id FROM (
    SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS counted FROM customer GROUP BY c_w_id, c_d_id) c
LEFT JOIN (
    SELECT o_w_id, o_d_id, COUNT(o_carrier_id) - 2100 AS carried FROM orders GROUP BY o_w_id, o_d_id) o
    ON o_w_id = c_w_id AND o_d_id = c_d_id
WHERE counted <> COALESCE(carried, 0);

-- Every payment but the first puts its description in front of the data of a customer with bad credit, with a bar at its end.
-- A description has at most 41 letters, so 500 letters always contain the last twelve.
-- statement: customer-data
SELECT c_w_id, c_d_id, c_id FROM customer
WHERE {length}(c_data) < 300 OR {length}(c_data) > 500 OR CASE
    WHEN c_credit <> 'BC' THEN c_data LIKE '%|%'
    WHEN c_payment_cnt > 13 THEN {length}(c_data) - {length}(REPLACE(c_data, '|', '')) < 12
    ELSE {length}(c_data) - {length}(REPLACE(c_data, '|', '')) <> c_payment_cnt - 1 END;
