-- Shopping on Mondays in stores of a middling size.
-- statement: q79
SELECT c_last_name, c_first_name, city, ss_ticket_number, coupons, profit
FROM (
    SELECT ss_ticket_number, ss_customer_sk, SUBSTR(s_city, 1, 30) AS city, SUM(ss_coupon_amt) AS coupons,
        SUM(ss_net_profit) AS profit
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN store ON s_store_sk = ss_store_sk
    JOIN household_demographics ON hd_demo_sk = ss_hdemo_sk
    WHERE d_dow = 1 AND d_year IN ({year}, {year} + 1, {year} + 2) AND s_number_employees BETWEEN 200 AND 295
        AND (hd_dep_count = {dependents} OR hd_vehicle_count > {vehicles})
    GROUP BY ss_ticket_number, ss_customer_sk, ss_addr_sk, s_city) tickets
JOIN customer ON c_customer_sk = ss_customer_sk
ORDER BY c_last_name IS NOT NULL, c_last_name, c_first_name IS NOT NULL, c_first_name, city IS NOT NULL, city,
    profit IS NOT NULL, profit, ss_ticket_number
LIMIT 100;
