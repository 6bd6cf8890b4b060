-- The best hundred of each category in a year: categories, classes, brands, products, their years, quarters, months and stores.
-- statement: q67
SELECT category, class, brand, product, sold_in, quarter, month, store, sold, place
FROM (
    SELECT category, class, brand, product, sold_in, quarter, month, store, sold,
        RANK() OVER (PARTITION BY category ORDER BY sold DESC) AS place
    FROM (
        SELECT i_category AS category, i_class AS class, i_brand AS brand, i_product_name AS product, d_year AS sold_in,
            d_qoy AS quarter, d_moy AS month, s_store_id AS store, SUM(COALESCE(ss_sales_price * ss_quantity, 0)) AS sold
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        JOIN store ON s_store_sk = ss_store_sk
        JOIN item ON i_item_sk = ss_item_sk
        WHERE d_month_seq BETWEEN {month} AND {month} + 11
        GROUP BY {rollup_of}i_category, i_class, i_brand, i_product_name, d_year, d_qoy, d_moy, s_store_id{in_levels})
            rolled_up) ranked
WHERE place <= 100
ORDER BY category IS NOT NULL, category, class IS NOT NULL, class, brand IS NOT NULL, brand, product IS NOT NULL, product,
    sold_in IS NOT NULL, sold_in, quarter IS NOT NULL, quarter, month IS NOT NULL, month, store IS NOT NULL, store, sold, place
LIMIT 100;
