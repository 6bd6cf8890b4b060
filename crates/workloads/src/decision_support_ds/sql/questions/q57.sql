-- Months in which a call center sold more or less than usual of a brand, beside its months before and after.
-- statement: q57
SELECT i_category, i_brand, cc_name, d_year, d_moy, usual, sold, sold_before, sold_after
FROM (
    SELECT i_category, i_brand, cc_name, d_year, d_moy, sold,
        AVG(sold) OVER (PARTITION BY i_category, i_brand, cc_name, d_year) AS usual,
        LAG(sold) OVER (PARTITION BY i_category, i_brand, cc_name ORDER BY d_year, d_moy) AS sold_before,
        LEAD(sold) OVER (PARTITION BY i_category, i_brand, cc_name ORDER BY d_year, d_moy) AS sold_after,
        LAG(d_moy) OVER (PARTITION BY i_category, i_brand, cc_name ORDER BY d_year, d_moy) AS month_before,
        LEAD(d_moy) OVER (PARTITION BY i_category, i_brand, cc_name ORDER BY d_year, d_moy) AS month_after
    FROM (
        SELECT i_category, i_brand, cc_name, d_year, d_moy, SUM(cs_sales_price) AS sold
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        JOIN item ON i_item_sk = cs_item_sk
        JOIN call_center ON cc_call_center_sk = cs_call_center_sk
        WHERE (d_year = {year} OR (d_year = {year} - 1 AND d_moy = 12) OR (d_year = {year} + 1 AND d_moy = 1))
            AND i_category IS NOT NULL AND i_brand IS NOT NULL AND cc_name IS NOT NULL
        GROUP BY i_category, i_brand, cc_name, d_year, d_moy) months) beside
WHERE d_year = {year} AND month_before IS NOT NULL AND month_after IS NOT NULL AND usual > 0
    AND 10 * ABS(sold - usual) > usual
ORDER BY sold - usual, CASE {order} WHEN 1 THEN i_category WHEN 2 THEN i_brand WHEN 3 THEN cc_name END, d_moy, i_category, i_brand,
    cc_name
LIMIT 100;
