-- The average stock of a year: by product, brand, class and category, and over all of them.
-- statement: q22
SELECT product, brand, class, category, 1.0000 * quantity / counted AS average
FROM (
    SELECT depth, CASE WHEN depth < 4 THEN i_product_name END AS product, CASE WHEN depth < 3 THEN i_brand END AS brand,
        CASE WHEN depth < 2 THEN i_class END AS class, CASE WHEN depth < 1 THEN i_category END AS category,
        SUM(quantity) AS quantity, SUM(counted) AS counted
    FROM (
        SELECT i_product_name, i_brand, i_class, i_category, SUM(quantity) AS quantity, SUM(counted) AS counted
        FROM (
            SELECT inv_item_sk, SUM(inv_quantity_on_hand) AS quantity, COUNT(inv_quantity_on_hand) AS counted
            FROM date_dim
            JOIN inventory ON inv_date_sk = d_date_sk
            WHERE d_month_seq BETWEEN {month} AND {month} + 11
            GROUP BY inv_item_sk) of_item
        JOIN item ON i_item_sk = inv_item_sk
        GROUP BY i_product_name, i_brand, i_class, i_category) of_product
    CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) depths
    GROUP BY depth, CASE WHEN depth < 4 THEN i_product_name END, CASE WHEN depth < 3 THEN i_brand END,
        CASE WHEN depth < 2 THEN i_class END, CASE WHEN depth < 1 THEN i_category END) rolled_up
WHERE counted > 0
ORDER BY average, product IS NOT NULL, product, brand IS NOT NULL, brand, class IS NOT NULL, class, category IS NOT NULL, category
LIMIT 100;
