-- What stores of a time zone sold on each day of the week.
-- statement: q43
SELECT s_store_name, s_store_id,
    SUM(CASE WHEN d_day_name = 'Sunday' THEN ss_sales_price END), SUM(CASE WHEN d_day_name = 'Monday' THEN ss_sales_price END),
    SUM(CASE WHEN d_day_name = 'Tuesday' THEN ss_sales_price END), SUM(CASE WHEN d_day_name = 'Wednesday' THEN ss_sales_price END),
    SUM(CASE WHEN d_day_name = 'Thursday' THEN ss_sales_price END), SUM(CASE WHEN d_day_name = 'Friday' THEN ss_sales_price END),
    SUM(CASE WHEN d_day_name = 'Saturday' THEN ss_sales_price END)
FROM date_dim
JOIN store_sales ON ss_sold_date_sk = d_date_sk
JOIN store ON s_store_sk = ss_store_sk
WHERE s_gmt_offset = {offset} AND d_year = {year}
GROUP BY s_store_name, s_store_id
ORDER BY s_store_name IS NOT NULL, s_store_name, s_store_id
LIMIT 100;
