-- Months of a year in which a brand sold in a store more than a tenth above or below its average, with the months around them.
-- statement: q47
SELECT i_category, i_brand, s_store_name, s_company_name, d_year, d_moy, usual, total, total_before, total_after
FROM (
    SELECT i_category, i_brand, s_store_name, s_company_name, d_year, d_moy, SUM(ss_sales_price) AS total,
        AVG(SUM(ss_sales_price)) OVER (PARTITION BY i_category, i_brand, s_store_name, s_company_name, d_year) AS usual,
        LAG(SUM(ss_sales_price)) OVER (
            PARTITION BY i_category, i_brand, s_store_name, s_company_name ORDER BY d_year, d_moy) AS total_before,
        LEAD(SUM(ss_sales_price)) OVER (
            PARTITION BY i_category, i_brand, s_store_name, s_company_name ORDER BY d_year, d_moy) AS total_after
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = ss_item_sk
    JOIN store ON s_store_sk = ss_store_sk
    WHERE (d_year = {year} OR (d_year = {year} - 1 AND d_moy = 12) OR (d_year = {year} + 1 AND d_moy = 1))
        AND i_category IS NOT NULL AND i_brand IS NOT NULL AND s_store_name IS NOT NULL AND s_company_name IS NOT NULL
    GROUP BY i_category, i_brand, s_store_name, s_company_name, d_year, d_moy) monthly
WHERE d_year = {year} AND usual > 0 AND ABS(total - usual) > 0.1 * usual
    AND total_before IS NOT NULL AND total_after IS NOT NULL
ORDER BY total - usual,
    CASE {order} WHEN 1 THEN i_category WHEN 2 THEN i_brand WHEN 3 THEN s_store_name ELSE s_company_name END,
    i_category, i_brand, s_store_name, s_company_name, d_moy
LIMIT 100;
