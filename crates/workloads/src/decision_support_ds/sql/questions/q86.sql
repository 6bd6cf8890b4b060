-- What customers of the web paid in a year, by class and category and in all, and the places that this gives them.
-- statement: q86
SELECT paid, category, class, depth, place
FROM (
    SELECT paid, category, class, depth,
        RANK() OVER (PARTITION BY depth, CASE WHEN depth = 0 THEN category END ORDER BY paid DESC) AS place
    FROM (
        SELECT depth, CASE WHEN depth < 2 THEN i_category END AS category, CASE WHEN depth < 1 THEN i_class END AS class,
            SUM(amount) AS paid
        FROM (
            SELECT i_category, i_class, SUM(ws_net_paid) AS amount
            FROM date_dim
            JOIN web_sales ON ws_sold_date_sk = d_date_sk
            JOIN item ON i_item_sk = ws_item_sk
            WHERE d_month_seq BETWEEN {month} AND {month} + 11
            GROUP BY i_category, i_class) finest
        CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2) depths
        GROUP BY depth, CASE WHEN depth < 2 THEN i_category END, CASE WHEN depth < 1 THEN i_class END) rolled_up) ranked
ORDER BY depth DESC, CASE WHEN depth = 0 THEN category END IS NOT NULL, CASE WHEN depth = 0 THEN category END, place
LIMIT 100;
