-- Profit of stores in a year, by county and state and in all, and the places that this gives them. The states are those that are
-- among the best five of themselves, which all are.
-- statement: q70
SELECT profit, state, county, depth, place
FROM (
    SELECT profit, state, county, depth,
        RANK() OVER (PARTITION BY depth, CASE WHEN depth = 0 THEN state END ORDER BY profit DESC) AS place
    FROM (
        SELECT depth, CASE WHEN depth < 2 THEN s_state END AS state, CASE WHEN depth < 1 THEN s_county END AS county,
            SUM(amount) AS profit
        FROM (
            SELECT s_state, s_county, SUM(ss_net_profit) AS amount
            FROM date_dim
            JOIN store_sales ON ss_sold_date_sk = d_date_sk
            JOIN store ON s_store_sk = ss_store_sk
            WHERE d_month_seq BETWEEN {month} AND {month} + 11 AND s_state IN (
                SELECT state
                FROM (
                    SELECT s_state AS state, RANK() OVER (PARTITION BY s_state ORDER BY SUM(ss_net_profit) DESC) AS place
                    FROM date_dim
                    JOIN store_sales ON ss_sold_date_sk = d_date_sk
                    JOIN store ON s_store_sk = ss_store_sk
                    WHERE d_month_seq BETWEEN {month} AND {month} + 11
                    GROUP BY s_state) states
                WHERE place <= 5)
            GROUP BY s_state, s_county) finest
        CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2) depths
        GROUP BY depth, CASE WHEN depth < 2 THEN s_state END, CASE WHEN depth < 1 THEN s_county END) rolled_up) ranked
ORDER BY depth DESC, CASE WHEN depth = 0 THEN state END IS NOT NULL, CASE WHEN depth = 0 THEN state END, place
LIMIT 100;
