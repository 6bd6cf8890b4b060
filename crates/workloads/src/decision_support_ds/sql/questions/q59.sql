-- What a store sold on each day of a week, compared with the same week of the next year. Each pair of weeks comes once for each
-- pair of their days in the two years. Weeks are computed, because MariaDB would otherwise add up their sales anew for each day
-- that it joins.
-- statement: q59
WITH sold AS (
    SELECT d_week_seq + 0 AS week, d_week_seq - 52 AS week_before, ss_store_sk AS store_key,
        SUM(CASE WHEN d_day_name = 'Sunday' THEN ss_sales_price END) AS sunday,
        SUM(CASE WHEN d_day_name = 'Monday' THEN ss_sales_price END) AS monday,
        SUM(CASE WHEN d_day_name = 'Tuesday' THEN ss_sales_price END) AS tuesday,
        SUM(CASE WHEN d_day_name = 'Wednesday' THEN ss_sales_price END) AS wednesday,
        SUM(CASE WHEN d_day_name = 'Thursday' THEN ss_sales_price END) AS thursday,
        SUM(CASE WHEN d_day_name = 'Friday' THEN ss_sales_price END) AS friday,
        SUM(CASE WHEN d_day_name = 'Saturday' THEN ss_sales_price END) AS saturday
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_month_seq BETWEEN {month} AND {month} + 23)
    GROUP BY d_week_seq + 0, d_week_seq - 52, ss_store_sk)
SELECT place.s_store_name, place.s_store_id, now.week,
    1.0000 * now.sunday / NULLIF(later.sunday, 0), 1.0000 * now.monday / NULLIF(later.monday, 0),
    1.0000 * now.tuesday / NULLIF(later.tuesday, 0), 1.0000 * now.wednesday / NULLIF(later.wednesday, 0),
    1.0000 * now.thursday / NULLIF(later.thursday, 0), 1.0000 * now.friday / NULLIF(later.friday, 0),
    1.0000 * now.saturday / NULLIF(later.saturday, 0)
FROM sold now
JOIN store place ON place.s_store_sk = now.store_key
JOIN date_dim this_year ON this_year.d_week_seq = now.week
JOIN sold later ON later.week_before = now.week
JOIN store same_place ON same_place.s_store_sk = later.store_key AND same_place.s_store_id = place.s_store_id
JOIN date_dim next_year ON next_year.d_week_seq = later.week
WHERE this_year.d_month_seq BETWEEN {month} AND {month} + 11 AND next_year.d_month_seq BETWEEN {month} + 12 AND {month} + 23
ORDER BY place.s_store_name IS NULL, place.s_store_name, place.s_store_id, now.week
LIMIT 100;
