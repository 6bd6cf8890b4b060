-- Customers whose payments on the web grew more from a year to the next than those in stores.
-- statement: q74
SELECT c_customer_id, c_first_name, c_last_name
FROM (
    SELECT customer_key,
        MAX(CASE WHEN channel = 'store' AND d_year = {year} THEN paid END) AS in_stores,
        MAX(CASE WHEN channel = 'store' AND d_year = {year} + 1 THEN paid END) AS next_in_stores,
        MAX(CASE WHEN channel = 'web' AND d_year = {year} THEN paid END) AS on_web,
        MAX(CASE WHEN channel = 'web' AND d_year = {year} + 1 THEN paid END) AS next_on_web
    FROM (
        SELECT 'store' AS channel, ss_customer_sk AS customer_key, d_year,
            CASE {measure} WHEN 1 THEN SUM(ss_net_paid) WHEN 2 THEN MIN(ss_net_paid) WHEN 3 THEN MAX(ss_net_paid)
                ELSE AVG(ss_net_paid) END AS paid
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        WHERE d_year IN ({year}, {year} + 1)
        GROUP BY ss_customer_sk, d_year
        UNION ALL
        SELECT 'web', ws_bill_customer_sk, d_year,
            CASE {measure} WHEN 1 THEN SUM(ws_net_paid) WHEN 2 THEN MIN(ws_net_paid) WHEN 3 THEN MAX(ws_net_paid)
                ELSE AVG(ws_net_paid) END
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        WHERE d_year IN ({year}, {year} + 1)
        GROUP BY ws_bill_customer_sk, d_year) payments
    GROUP BY customer_key) years
JOIN customer ON c_customer_sk = customer_key
WHERE in_stores > 0 AND on_web > 0 AND next_on_web * in_stores > next_in_stores * on_web
ORDER BY CASE {order} WHEN 1 THEN c_customer_id WHEN 2 THEN c_first_name ELSE c_last_name END IS NOT NULL,
    CASE {order} WHEN 1 THEN c_customer_id WHEN 2 THEN c_first_name ELSE c_last_name END, c_customer_id
LIMIT 100;
