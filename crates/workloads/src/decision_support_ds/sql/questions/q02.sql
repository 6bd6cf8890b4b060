-- Sales of the web and the catalog on each day of a week, compared with those 53 weeks later. Each pair of weeks comes once for
-- each pair of their days in the two years.
-- statement: q02
SELECT week, ROUND(1.0 * sunday / NULLIF(sunday_later, 0), 2), ROUND(1.0 * monday / NULLIF(monday_later, 0), 2),
    ROUND(1.0 * tuesday / NULLIF(tuesday_later, 0), 2), ROUND(1.0 * wednesday / NULLIF(wednesday_later, 0), 2),
    ROUND(1.0 * thursday / NULLIF(thursday_later, 0), 2), ROUND(1.0 * friday / NULLIF(friday_later, 0), 2),
    ROUND(1.0 * saturday / NULLIF(saturday_later, 0), 2)
FROM (
    SELECT d_week_seq - 53 * later AS week,
        SUM(CASE WHEN later = 0 AND d_day_name = 'Sunday' THEN price END) AS sunday,
        SUM(CASE WHEN later = 1 AND d_day_name = 'Sunday' THEN price END) AS sunday_later,
        SUM(CASE WHEN later = 0 AND d_day_name = 'Monday' THEN price END) AS monday,
        SUM(CASE WHEN later = 1 AND d_day_name = 'Monday' THEN price END) AS monday_later,
        SUM(CASE WHEN later = 0 AND d_day_name = 'Tuesday' THEN price END) AS tuesday,
        SUM(CASE WHEN later = 1 AND d_day_name = 'Tuesday' THEN price END) AS tuesday_later,
        SUM(CASE WHEN later = 0 AND d_day_name = 'Wednesday' THEN price END) AS wednesday,
        SUM(CASE WHEN later = 1 AND d_day_name = 'Wednesday' THEN price END) AS wednesday_later,
        SUM(CASE WHEN later = 0 AND d_day_name = 'Thursday' THEN price END) AS thursday,
        SUM(CASE WHEN later = 1 AND d_day_name = 'Thursday' THEN price END) AS thursday_later,
        SUM(CASE WHEN later = 0 AND d_day_name = 'Friday' THEN price END) AS friday,
        SUM(CASE WHEN later = 1 AND d_day_name = 'Friday' THEN price END) AS friday_later,
        SUM(CASE WHEN later = 0 AND d_day_name = 'Saturday' THEN price END) AS saturday,
        SUM(CASE WHEN later = 1 AND d_day_name = 'Saturday' THEN price END) AS saturday_later
    FROM (
        SELECT date_key, SUM(price) AS price
        FROM (
            SELECT ws_sold_date_sk AS date_key, ws_ext_sales_price AS price FROM web_sales
            UNION ALL
            SELECT cs_sold_date_sk, cs_ext_sales_price FROM catalog_sales) sales
        GROUP BY date_key) daily
    JOIN date_dim ON d_date_sk = date_key
    CROSS JOIN (SELECT 0 AS later UNION ALL SELECT 1) times
    GROUP BY d_week_seq - 53 * later
    HAVING MIN(later) = 0 AND MAX(later) = 1) weekly
JOIN date_dim this_year ON this_year.d_week_seq = week
JOIN date_dim next_year ON next_year.d_week_seq = week + 53
WHERE this_year.d_year = {year} AND next_year.d_year = {year} + 1
ORDER BY week;
