-- How many things certain people bought at a store in each half hour from half past eight in the morning on.
-- statement: q88
SELECT
    SUM(CASE WHEN t_hour = 8 AND t_minute >= 30 THEN 1 ELSE 0 END),
    SUM(CASE WHEN t_hour = 9 AND t_minute < 30 THEN 1 ELSE 0 END),
    SUM(CASE WHEN t_hour = 9 AND t_minute >= 30 THEN 1 ELSE 0 END),
    SUM(CASE WHEN t_hour = 10 AND t_minute < 30 THEN 1 ELSE 0 END),
    SUM(CASE WHEN t_hour = 10 AND t_minute >= 30 THEN 1 ELSE 0 END),
    SUM(CASE WHEN t_hour = 11 AND t_minute < 30 THEN 1 ELSE 0 END),
    SUM(CASE WHEN t_hour = 11 AND t_minute >= 30 THEN 1 ELSE 0 END),
    SUM(CASE WHEN t_hour = 12 AND t_minute < 30 THEN 1 ELSE 0 END)
FROM store
JOIN store_sales ON ss_store_sk = s_store_sk
JOIN time_dim ON t_time_sk = ss_sold_time_sk
JOIN household_demographics ON hd_demo_sk = ss_hdemo_sk
WHERE s_store_name = 'ese' AND t_hour BETWEEN 8 AND 12 AND (
    (hd_dep_count = {dependents_1} AND hd_vehicle_count <= {dependents_1} + 2)
    OR (hd_dep_count = {dependents_2} AND hd_vehicle_count <= {dependents_2} + 2)
    OR (hd_dep_count = {dependents_3} AND hd_vehicle_count <= {dependents_3} + 2));
