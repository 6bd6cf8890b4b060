-- Average quantities and prices of goods that people of one kind bought: by state, and in all.
-- statement: q27
SELECT item, state, CASE WHEN depth = 0 THEN 0 ELSE 1 END, quantity, list_price, coupon, sales_price
FROM (
    SELECT depth, CASE WHEN depth < 2 THEN i_item_id END AS item, CASE WHEN depth < 1 THEN s_state END AS state,
        AVG(ss_quantity) AS quantity, AVG(ss_list_price) AS list_price, AVG(ss_coupon_amt) AS coupon,
        AVG(ss_sales_price) AS sales_price
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN customer_demographics ON cd_demo_sk = ss_cdemo_sk
    JOIN store ON s_store_sk = ss_store_sk
    JOIN item ON i_item_sk = ss_item_sk
    CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2) depths
    WHERE cd_gender = {gender} AND cd_marital_status = {marital} AND cd_education_status = {education} AND d_year = {year}
        AND s_state IN ({states})
    GROUP BY depth, CASE WHEN depth < 2 THEN i_item_id END, CASE WHEN depth < 1 THEN s_state END) rolled_up
ORDER BY item IS NOT NULL, item, state IS NOT NULL, state
LIMIT 100;
