-- How many things people with so many dependents bought at a store in half an hour of all days.
-- statement: q96
SELECT COUNT(*)
FROM store
JOIN store_sales ON ss_store_sk = s_store_sk
JOIN household_demographics ON hd_demo_sk = ss_hdemo_sk
JOIN time_dim ON t_time_sk = ss_sold_time_sk
WHERE t_hour = {hour} AND t_minute >= 30 AND hd_dep_count = {dependents} AND s_store_name = 'ese'
LIMIT 100;
