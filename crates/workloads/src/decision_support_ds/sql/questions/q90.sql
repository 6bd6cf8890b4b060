-- Sales on the web in two hours of the morning for each in two hours of the evening, to certain people on long pages.
-- statement: q90
SELECT 1.0000 * morning / NULLIF(evening, 0)
FROM (
    SELECT SUM(CASE WHEN t_hour BETWEEN {morning} AND {morning} + 1 THEN 1 ELSE 0 END) AS morning,
        SUM(CASE WHEN t_hour BETWEEN {evening} AND {evening} + 1 THEN 1 ELSE 0 END) AS evening
    FROM web_page
    JOIN web_sales ON ws_web_page_sk = wp_web_page_sk
    JOIN time_dim ON t_time_sk = ws_sold_time_sk
    JOIN household_demographics ON hd_demo_sk = ws_ship_hdemo_sk
    WHERE wp_char_count BETWEEN 5000 AND 5200 AND hd_dep_count = {dependents}) hours
LIMIT 100;
