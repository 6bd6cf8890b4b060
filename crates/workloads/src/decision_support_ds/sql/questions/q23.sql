-- What the best customers paid in a month to the catalog and on the web for goods that stores sell often: in all, then by customer.
-- statement: q23a
WITH customers AS (
    SELECT ss_customer_sk AS best_key, SUM(ss_quantity * ss_sales_price) AS paid,
        SUM(CASE WHEN d_year BETWEEN {year} AND {year} + 3 THEN ss_quantity * ss_sales_price END) AS paid_lately
    FROM store_sales
    LEFT JOIN date_dim ON d_date_sk = ss_sold_date_sk
    WHERE ss_customer_sk IS NOT NULL
    GROUP BY ss_customer_sk)
SELECT SUM(amount)
FROM (
    SELECT cs_item_sk AS item_key, cs_bill_customer_sk AS customer_key, cs_quantity * cs_list_price AS amount
    FROM catalog_sales
    JOIN date_dim ON d_date_sk = cs_sold_date_sk
    WHERE d_year = {year} AND d_moy = {month}
    UNION ALL
    SELECT ws_item_sk, ws_bill_customer_sk, ws_quantity * ws_list_price
    FROM web_sales
    JOIN date_dim ON d_date_sk = ws_sold_date_sk
    WHERE d_year = {year} AND d_moy = {month}) sales
WHERE item_key IN (
    SELECT ss_item_sk
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    WHERE d_year BETWEEN {year} AND {year} + 3
    GROUP BY ss_item_sk, ss_sold_date_sk
    HAVING COUNT(*) > 4)
AND customer_key IN (
    SELECT best_key FROM customers WHERE 100 * paid > {percent} * (SELECT MAX(paid_lately) FROM customers));

-- statement: q23b
WITH customers AS (
    SELECT ss_customer_sk AS best_key, SUM(ss_quantity * ss_sales_price) AS paid,
        SUM(CASE WHEN d_year BETWEEN {year} AND {year} + 3 THEN ss_quantity * ss_sales_price END) AS paid_lately
    FROM store_sales
    LEFT JOIN date_dim ON d_date_sk = ss_sold_date_sk
    WHERE ss_customer_sk IS NOT NULL
    GROUP BY ss_customer_sk)
SELECT c_last_name, c_first_name, SUM(amount) AS total
FROM (
    SELECT 'c' AS channel, cs_item_sk AS item_key, cs_bill_customer_sk AS customer_key, cs_quantity * cs_list_price AS amount
    FROM catalog_sales
    JOIN date_dim ON d_date_sk = cs_sold_date_sk
    WHERE d_year = {year} AND d_moy = {month}
    UNION ALL
    SELECT 'w', ws_item_sk, ws_bill_customer_sk, ws_quantity * ws_list_price
    FROM web_sales
    JOIN date_dim ON d_date_sk = ws_sold_date_sk
    WHERE d_year = {year} AND d_moy = {month}) sales
JOIN customer ON c_customer_sk = customer_key
WHERE item_key IN (
    SELECT ss_item_sk
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    WHERE d_year BETWEEN {year} AND {year} + 3
    GROUP BY ss_item_sk, ss_sold_date_sk
    HAVING COUNT(*) > 4)
AND customer_key IN (
    SELECT best_key FROM customers WHERE 100 * paid > {percent} * (SELECT MAX(paid_lately) FROM customers))
GROUP BY channel, c_last_name, c_first_name
ORDER BY c_last_name IS NOT NULL, c_last_name, c_first_name IS NOT NULL, c_first_name, total
LIMIT 100;
