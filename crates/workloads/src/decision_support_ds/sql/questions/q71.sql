-- What all channels sold in a month of the brands of manager 1, at each minute of breakfast and dinner.
-- statement: q71
SELECT i_brand_id, i_brand, t_hour, t_minute, SUM(price)
FROM (
    SELECT ws_item_sk AS item_key, ws_sold_time_sk AS time_key, ws_ext_sales_price AS price
    FROM date_dim
    JOIN web_sales ON ws_sold_date_sk = d_date_sk
    WHERE d_moy = {month} AND d_year = {year}
    UNION ALL
    SELECT cs_item_sk, cs_sold_time_sk, cs_ext_sales_price
    FROM date_dim
    JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
    WHERE d_moy = {month} AND d_year = {year}
    UNION ALL
    SELECT ss_item_sk, ss_sold_time_sk, ss_ext_sales_price
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    WHERE d_moy = {month} AND d_year = {year}) sales
JOIN item ON i_item_sk = item_key
JOIN time_dim ON t_time_sk = time_key
WHERE i_manager_id = 1 AND t_meal_time IN ('breakfast', 'dinner')
GROUP BY i_brand_id, i_brand, t_hour, t_minute
ORDER BY SUM(price) IS NOT NULL, SUM(price) DESC, i_brand_id IS NOT NULL, i_brand_id, i_brand,
    t_hour, t_minute;
