-- What households of some kinds bought on weekends in another city than they live in now.
-- statement: q46
SELECT c_last_name, c_first_name, lives.ca_city, bought_city, ss_ticket_number, coupons, profit
FROM (
    SELECT ss_ticket_number, ss_customer_sk, ca_city AS bought_city, SUM(ss_coupon_amt) AS coupons, SUM(ss_net_profit) AS profit
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN store ON s_store_sk = ss_store_sk
    JOIN household_demographics ON hd_demo_sk = ss_hdemo_sk
    JOIN customer_address ON ca_address_sk = ss_addr_sk
    WHERE (hd_dep_count = {dependents} OR hd_vehicle_count = {vehicles}) AND d_dow IN (6, 0)
        AND d_year BETWEEN {year} AND {year} + 2 AND s_city IN ({cities})
    GROUP BY ss_ticket_number, ss_customer_sk, ss_addr_sk, ca_city) tickets
JOIN customer ON c_customer_sk = ss_customer_sk
JOIN customer_address lives ON lives.ca_address_sk = c_current_addr_sk
WHERE lives.ca_city <> bought_city
ORDER BY c_last_name IS NOT NULL, c_last_name, c_first_name IS NOT NULL, c_first_name, lives.ca_city, bought_city, ss_ticket_number
LIMIT 100;
