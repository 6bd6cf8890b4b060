-- Goods of a brand, class and category that all channels sold within three years, and which of them sold above the average: first by
-- channel, then in stores compared with the year before.
-- statement: q14a
WITH everywhere AS (
    SELECT i_brand_id, i_class_id, i_category_id
    FROM (
        SELECT DISTINCT ss_item_sk
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2) in_stores
    JOIN item ON i_item_sk = ss_item_sk
    INTERSECT
    SELECT i_brand_id, i_class_id, i_category_id
    FROM (
        SELECT DISTINCT cs_item_sk
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2) in_catalogs
    JOIN item ON i_item_sk = cs_item_sk
    INTERSECT
    SELECT i_brand_id, i_class_id, i_category_id
    FROM (
        SELECT DISTINCT ws_item_sk
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2) on_the_web
    JOIN item ON i_item_sk = ws_item_sk),
usual AS (
    SELECT AVG(amount) AS amount
    FROM (
        SELECT ss_quantity * ss_list_price AS amount
        FROM store_sales
        JOIN date_dim ON d_date_sk = ss_sold_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2
        UNION ALL
        SELECT cs_quantity * cs_list_price
        FROM catalog_sales
        JOIN date_dim ON d_date_sk = cs_sold_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2
        UNION ALL
        SELECT ws_quantity * ws_list_price
        FROM web_sales
        JOIN date_dim ON d_date_sk = ws_sold_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2) sales),
sold AS (
    SELECT channel, i_brand_id, i_class_id, i_category_id, SUM(amount) AS amount, COUNT(*) AS sales
    FROM (
        SELECT 'store' AS channel, ss_item_sk AS sold_key, ss_quantity * ss_list_price AS amount
        FROM store_sales
        JOIN date_dim ON d_date_sk = ss_sold_date_sk
        WHERE d_year = {year} + 2 AND d_moy = 11
        UNION ALL
        SELECT 'catalog', cs_item_sk, cs_quantity * cs_list_price
        FROM catalog_sales
        JOIN date_dim ON d_date_sk = cs_sold_date_sk
        WHERE d_year = {year} + 2 AND d_moy = 11
        UNION ALL
        SELECT 'web', ws_item_sk, ws_quantity * ws_list_price
        FROM web_sales
        JOIN date_dim ON d_date_sk = ws_sold_date_sk
        WHERE d_year = {year} + 2 AND d_moy = 11) sales
    JOIN item ON i_item_sk = sold_key
    GROUP BY channel, i_brand_id, i_class_id, i_category_id
    HAVING SUM(amount) > (SELECT amount FROM usual))
SELECT channel_shown, brand, class, category, amount, sales
FROM (
    SELECT depth, CASE WHEN depth < 4 THEN channel END AS channel_shown, CASE WHEN depth < 3 THEN sold.i_brand_id END AS brand,
        CASE WHEN depth < 2 THEN sold.i_class_id END AS class, CASE WHEN depth < 1 THEN sold.i_category_id END AS category,
        SUM(amount) AS amount, SUM(sales) AS sales
    FROM sold
    JOIN everywhere ON everywhere.i_brand_id = sold.i_brand_id AND everywhere.i_class_id = sold.i_class_id
        AND everywhere.i_category_id = sold.i_category_id
    CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) depths
    GROUP BY depth, CASE WHEN depth < 4 THEN channel END, CASE WHEN depth < 3 THEN sold.i_brand_id END,
        CASE WHEN depth < 2 THEN sold.i_class_id END, CASE WHEN depth < 1 THEN sold.i_category_id END) rolled_up
ORDER BY channel_shown IS NOT NULL, channel_shown, brand IS NOT NULL, brand, class IS NOT NULL, class, category IS NOT NULL, category
LIMIT 100;

-- statement: q14b
WITH everywhere AS (
    SELECT i_brand_id, i_class_id, i_category_id
    FROM (
        SELECT DISTINCT ss_item_sk
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2) in_stores
    JOIN item ON i_item_sk = ss_item_sk
    INTERSECT
    SELECT i_brand_id, i_class_id, i_category_id
    FROM (
        SELECT DISTINCT cs_item_sk
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2) in_catalogs
    JOIN item ON i_item_sk = cs_item_sk
    INTERSECT
    SELECT i_brand_id, i_class_id, i_category_id
    FROM (
        SELECT DISTINCT ws_item_sk
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2) on_the_web
    JOIN item ON i_item_sk = ws_item_sk),
usual AS (
    SELECT AVG(amount) AS amount
    FROM (
        SELECT ss_quantity * ss_list_price AS amount
        FROM store_sales
        JOIN date_dim ON d_date_sk = ss_sold_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2
        UNION ALL
        SELECT cs_quantity * cs_list_price
        FROM catalog_sales
        JOIN date_dim ON d_date_sk = cs_sold_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2
        UNION ALL
        SELECT ws_quantity * ws_list_price
        FROM web_sales
        JOIN date_dim ON d_date_sk = ws_sold_date_sk
        WHERE d_year BETWEEN {year} AND {year} + 2) sales),
sold AS (
    SELECT i_brand_id, i_class_id, i_category_id,
        SUM(CASE WHEN d_year = {year} + 1 THEN ss_quantity * ss_list_price END) AS amount,
        SUM(CASE WHEN d_year = {year} + 1 THEN 1 END) AS sales,
        SUM(CASE WHEN d_year = {year} THEN ss_quantity * ss_list_price END) AS amount_before,
        SUM(CASE WHEN d_year = {year} THEN 1 END) AS sales_before
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = ss_item_sk
    WHERE d_week_seq IN (
        SELECT d_week_seq FROM date_dim WHERE d_year IN ({year}, {year} + 1) AND d_moy = 12 AND d_dom = {day})
    GROUP BY i_brand_id, i_class_id, i_category_id
    HAVING (i_brand_id, i_class_id, i_category_id) IN (SELECT i_brand_id, i_class_id, i_category_id FROM everywhere))
SELECT 'store' AS channel, i_brand_id, i_class_id, i_category_id, amount, sales,
    'store' AS channel_before, i_brand_id, i_class_id, i_category_id, amount_before, sales_before
FROM sold
WHERE CASE WHEN amount <= amount_before THEN amount WHEN amount > amount_before THEN amount_before END > (SELECT amount FROM usual)
ORDER BY i_brand_id, i_class_id, i_category_id
LIMIT 100;
