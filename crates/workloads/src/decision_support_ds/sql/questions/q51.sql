-- Days on which the web had sold more of an item in a year so far than the stores had. A day on which only one of them sold has
-- the greatest sum so far of the other.
-- statement: q51
WITH sold AS (
    SELECT ws_item_sk AS item_key, d_date AS sold_on,
        SUM(SUM(ws_sales_price)) OVER (
            PARTITION BY ws_item_sk ORDER BY d_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS on_web,
        NULL AS in_stores
    FROM web_sales
    JOIN date_dim ON d_date_sk = ws_sold_date_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11
    GROUP BY ws_item_sk, d_date
    UNION ALL
    SELECT ss_item_sk, d_date, NULL,
        SUM(SUM(ss_sales_price)) OVER (
            PARTITION BY ss_item_sk ORDER BY d_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    FROM store_sales
    JOIN date_dim ON d_date_sk = ss_sold_date_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11
    GROUP BY ss_item_sk, d_date)
SELECT item_key, sold_on, on_web, in_stores, most_on_web, most_in_stores
FROM (
    SELECT item_key, sold_on, on_web, in_stores,
        MAX(on_web) OVER (
            PARTITION BY item_key ORDER BY sold_on ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS most_on_web,
        MAX(in_stores) OVER (
            PARTITION BY item_key ORDER BY sold_on ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS most_in_stores
    FROM (
        SELECT item_key, sold_on, MAX(on_web) AS on_web, MAX(in_stores) AS in_stores
        FROM sold
        GROUP BY item_key, sold_on) both_channels) so_far
WHERE most_on_web > most_in_stores
ORDER BY item_key, sold_on
LIMIT 100;
