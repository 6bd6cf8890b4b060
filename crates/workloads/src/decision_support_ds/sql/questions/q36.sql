-- Profit for each dollar of sales in stores of some states, by category and class, and its rank among its like.
-- statement: q36
SELECT 1.0000 * profit / NULLIF(sales, 0) AS margin, category, class, depth,
    RANK() OVER (PARTITION BY depth, CASE WHEN depth = 0 THEN category END ORDER BY 1.0000 * profit / NULLIF(sales, 0)) AS place
FROM (
    SELECT depth, CASE WHEN depth < 2 THEN i_category END AS category, CASE WHEN depth < 1 THEN i_class END AS class,
        SUM(profit) AS profit, SUM(sales) AS sales
    FROM (
        SELECT i_category, i_class, SUM(ss_net_profit) AS profit, SUM(ss_ext_sales_price) AS sales
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        JOIN store ON s_store_sk = ss_store_sk
        JOIN item ON i_item_sk = ss_item_sk
        WHERE d_year = {year} AND s_state IN ({states})
        GROUP BY i_category, i_class) sold
    CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2) depths
    GROUP BY depth, CASE WHEN depth < 2 THEN i_category END, CASE WHEN depth < 1 THEN i_class END) rolled_up
ORDER BY depth DESC, CASE WHEN depth = 0 THEN category END IS NOT NULL, CASE WHEN depth = 0 THEN category END, place, category, class
LIMIT 100;
