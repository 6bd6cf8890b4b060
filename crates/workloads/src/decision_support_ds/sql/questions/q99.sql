-- How long orders from the catalog waited for being shipped, by warehouse, way of shipping and call center.
-- statement: q99
SELECT warehouse, sm_type, cc_name,
    SUM(CASE WHEN days <= 30 THEN 1 ELSE 0 END), SUM(CASE WHEN days > 30 AND days <= 60 THEN 1 ELSE 0 END),
    SUM(CASE WHEN days > 60 AND days <= 90 THEN 1 ELSE 0 END), SUM(CASE WHEN days > 90 AND days <= 120 THEN 1 ELSE 0 END),
    SUM(CASE WHEN days > 120 THEN 1 ELSE 0 END)
FROM (
    SELECT SUBSTR(w_warehouse_name, 1, 20) AS warehouse, sm_type, cc_name,
        cs_ship_date_sk - cs_sold_date_sk AS days
    FROM date_dim
    JOIN catalog_sales ON cs_ship_date_sk = d_date_sk
    JOIN warehouse ON w_warehouse_sk = cs_warehouse_sk
    JOIN ship_mode ON sm_ship_mode_sk = cs_ship_mode_sk
    JOIN call_center ON cc_call_center_sk = cs_call_center_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11) delays
GROUP BY warehouse, sm_type, cc_name
ORDER BY warehouse IS NOT NULL, warehouse, sm_type IS NOT NULL, sm_type, cc_name IS NOT NULL, cc_name
LIMIT 100;
