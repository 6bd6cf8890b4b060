-- Months in which a store sold more or less than usual of a brand of certain goods.
-- statement: q89
SELECT i_category, i_class, i_brand, s_store_name, s_company_name, d_moy, sold, usual
FROM (
    SELECT i_category, i_class, i_brand, s_store_name, s_company_name, d_moy, SUM(ss_sales_price) AS sold,
        AVG(SUM(ss_sales_price)) OVER (PARTITION BY i_category, i_brand, s_store_name, s_company_name) AS usual
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = ss_item_sk
    JOIN store ON s_store_sk = ss_store_sk
    WHERE d_year = {year} AND (
        (i_category IN ({categories_1}) AND i_class IN ({classes_1}))
        OR (i_category IN ({categories_2}) AND i_class IN ({classes_2})))
    GROUP BY i_category, i_class, i_brand, s_store_name, s_company_name, d_moy) months
WHERE usual <> 0 AND 10 * ABS(sold - usual) > ABS(usual)
ORDER BY sold - usual, s_store_name IS NULL, s_store_name, i_category, i_class, i_brand, d_moy
LIMIT 100;
