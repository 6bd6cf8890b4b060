-- Items that the same customer bought in stores and elsewhere in a year and did not return, and how many there for each
-- elsewhere. A little is added before rounding, so that halves of binary numbers go up, too.
-- statement: q78
SELECT {year}, item_key, customer_key, ROUND(1.000000 * pieces / other_pieces + 0.0000001, 2) AS ratio, pieces, cost, price,
    other_pieces, other_cost, other_price
FROM (
    SELECT item_key, customer_key, SUM(CASE WHEN in_store = 1 THEN pieces END) AS pieces,
        SUM(CASE WHEN in_store = 1 THEN cost END) AS cost, SUM(CASE WHEN in_store = 1 THEN price END) AS price,
        SUM(CASE WHEN in_store = 0 THEN COALESCE(pieces, 0) ELSE 0 END) AS other_pieces,
        SUM(CASE WHEN in_store = 0 THEN COALESCE(cost, 0) ELSE 0 END) AS other_cost,
        SUM(CASE WHEN in_store = 0 THEN COALESCE(price, 0) ELSE 0 END) AS other_price
    FROM (
        SELECT 1 AS in_store, ss_item_sk AS item_key, ss_customer_sk AS customer_key, SUM(ss_quantity) AS pieces,
            SUM(ss_wholesale_cost) AS cost, SUM(ss_sales_price) AS price
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        WHERE d_year = {year} AND ss_customer_sk IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM store_returns WHERE sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number)
        GROUP BY ss_item_sk, ss_customer_sk
        UNION ALL
        SELECT 0, ws_item_sk, ws_bill_customer_sk, SUM(ws_quantity),
            SUM(ws_wholesale_cost), SUM(ws_sales_price)
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        WHERE d_year = {year} AND ws_bill_customer_sk IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM web_returns WHERE wr_item_sk = ws_item_sk AND wr_order_number = ws_order_number)
        GROUP BY ws_item_sk, ws_bill_customer_sk
        UNION ALL
        SELECT 0, cs_item_sk, cs_bill_customer_sk, SUM(cs_quantity),
            SUM(cs_wholesale_cost), SUM(cs_sales_price)
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        WHERE d_year = {year} AND cs_bill_customer_sk IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM catalog_returns WHERE cr_item_sk = cs_item_sk AND cr_order_number = cs_order_number)
        GROUP BY cs_item_sk, cs_bill_customer_sk) kept
    GROUP BY item_key, customer_key
    HAVING MAX(in_store) = 1 AND SUM(CASE WHEN in_store = 0 THEN COALESCE(pieces, 0) ELSE 0 END) > 0) bought
ORDER BY CASE WHEN {order} <= 2 THEN item_key END, CASE WHEN {order} IN (1, 3) THEN customer_key END, pieces IS NOT NULL, pieces DESC,
    cost IS NOT NULL, cost DESC, price IS NOT NULL, price DESC, other_pieces, other_cost, other_price, ratio
LIMIT 100;
