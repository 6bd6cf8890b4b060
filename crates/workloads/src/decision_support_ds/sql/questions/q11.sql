-- Customers whose purchases on the web grew more from one year to the next than those in stores.
-- statement: q11
WITH sold AS (
    SELECT customer_key,
        SUM(CASE WHEN channel = 's' AND d_year = {year} THEN amount END) AS store_before,
        SUM(CASE WHEN channel = 's' AND d_year = {year} + 1 THEN amount END) AS store_after,
        SUM(CASE WHEN channel = 'w' AND d_year = {year} THEN amount END) AS web_before,
        SUM(CASE WHEN channel = 'w' AND d_year = {year} + 1 THEN amount END) AS web_after
    FROM (
        SELECT 's' AS channel, d_year, ss_customer_sk AS customer_key, ss_ext_list_price - ss_ext_discount_amt AS amount
        FROM store_sales
        JOIN date_dim ON d_date_sk = ss_sold_date_sk
        WHERE d_year IN ({year}, {year} + 1)
        UNION ALL
        SELECT 'w', d_year, ws_bill_customer_sk, ws_ext_list_price - ws_ext_discount_amt
        FROM web_sales
        JOIN date_dim ON d_date_sk = ws_sold_date_sk
        WHERE d_year IN ({year}, {year} + 1)) sales
    GROUP BY customer_key)
SELECT c_customer_id, c_first_name, c_last_name,
    CASE {column} WHEN 1 THEN c_preferred_cust_flag WHEN 2 THEN c_birth_country WHEN 3 THEN c_login
        ELSE c_email_address END
FROM sold
JOIN customer ON c_customer_sk = customer_key
WHERE store_before > 0 AND web_before > 0 AND 1.0 * web_after / web_before > 1.0 * store_after / store_before
ORDER BY c_customer_id
LIMIT 100;
