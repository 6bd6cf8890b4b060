-- The best hundred of each category in a year: categories, classes, brands, products, their years, quarters, months and stores.
-- SQLite has no rollup, so each row is added up at each level.
-- statement: q67
SELECT category, class, brand, product, sold_in, quarter, month, store, sold, place
FROM (
    SELECT category, class, brand, product, sold_in, quarter, month, store, sold,
        RANK() OVER (PARTITION BY category ORDER BY sold DESC) AS place
    FROM (
        SELECT depth, CASE WHEN depth < 8 THEN i_category END AS category, CASE WHEN depth < 7 THEN i_class END AS class,
            CASE WHEN depth < 6 THEN i_brand END AS brand, CASE WHEN depth < 5 THEN i_product_name END AS product,
            CASE WHEN depth < 4 THEN d_year END AS sold_in, CASE WHEN depth < 3 THEN d_qoy END AS quarter,
            CASE WHEN depth < 2 THEN d_moy END AS month, CASE WHEN depth < 1 THEN s_store_id END AS store,
            SUM(amount) AS sold
        FROM (
            SELECT i_category, i_class, i_brand, i_product_name, d_year, d_qoy, d_moy, s_store_id,
                SUM(COALESCE(ss_sales_price * ss_quantity, 0)) AS amount
            FROM date_dim
            JOIN store_sales ON ss_sold_date_sk = d_date_sk
            JOIN store ON s_store_sk = ss_store_sk
            JOIN item ON i_item_sk = ss_item_sk
            WHERE d_month_seq BETWEEN {month} AND {month} + 11
            GROUP BY i_category, i_class, i_brand, i_product_name, d_year, d_qoy, d_moy, s_store_id) finest
        CROSS JOIN (
            SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
            UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8) depths
        GROUP BY depth, CASE WHEN depth < 8 THEN i_category END, CASE WHEN depth < 7 THEN i_class END,
            CASE WHEN depth < 6 THEN i_brand END, CASE WHEN depth < 5 THEN i_product_name END,
            CASE WHEN depth < 4 THEN d_year END, CASE WHEN depth < 3 THEN d_qoy END, CASE WHEN depth < 2 THEN d_moy END,
            CASE WHEN depth < 1 THEN s_store_id END) rolled_up) ranked
WHERE place <= 100
ORDER BY category IS NOT NULL, category, class IS NOT NULL, class, brand IS NOT NULL, brand, product IS NOT NULL, product,
    sold_in IS NOT NULL, sold_in, quarter IS NOT NULL, quarter, month IS NOT NULL, month, store IS NOT NULL, store, sold, place
LIMIT 100;
