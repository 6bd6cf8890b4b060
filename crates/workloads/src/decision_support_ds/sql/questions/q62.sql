-- How long orders on the web waited for being shipped, by warehouse, way of shipping and site.
-- statement: q62
SELECT warehouse, sm_type, web_name,
    SUM(CASE WHEN days <= 30 THEN 1 ELSE 0 END), SUM(CASE WHEN days > 30 AND days <= 60 THEN 1 ELSE 0 END),
    SUM(CASE WHEN days > 60 AND days <= 90 THEN 1 ELSE 0 END), SUM(CASE WHEN days > 90 AND days <= 120 THEN 1 ELSE 0 END),
    SUM(CASE WHEN days > 120 THEN 1 ELSE 0 END)
FROM (
    SELECT SUBSTR(w_warehouse_name, 1, 20) AS warehouse, sm_type, web_name,
        ws_ship_date_sk - ws_sold_date_sk AS days
    FROM date_dim
    JOIN web_sales ON ws_ship_date_sk = d_date_sk
    JOIN warehouse ON w_warehouse_sk = ws_warehouse_sk
    JOIN ship_mode ON sm_ship_mode_sk = ws_ship_mode_sk
    JOIN web_site ON web_site_sk = ws_web_site_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11) delays
GROUP BY warehouse, sm_type, web_name
ORDER BY warehouse IS NOT NULL, warehouse, sm_type IS NOT NULL, sm_type, web_name IS NOT NULL, web_name
LIMIT 100;
