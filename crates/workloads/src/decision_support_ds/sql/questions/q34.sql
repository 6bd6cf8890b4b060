-- Who bought 15 to 20 things at once near the beginning or the end of a month, with many dependents for each vehicle.
-- statement: q34
SELECT c_last_name, c_first_name, c_salutation, c_preferred_cust_flag, ss_ticket_number, things
FROM (
    SELECT ss_ticket_number, ss_customer_sk, COUNT(*) AS things
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN store ON s_store_sk = ss_store_sk
    JOIN household_demographics ON hd_demo_sk = ss_hdemo_sk
    WHERE (d_dom BETWEEN 1 AND 3 OR d_dom BETWEEN 25 AND 28) AND d_year BETWEEN {year} AND {year} + 2
        AND hd_buy_potential IN ({potentials}) AND hd_vehicle_count > 0 AND 10 * hd_dep_count > 12 * hd_vehicle_count
        AND s_county IN ({counties})
    GROUP BY ss_ticket_number, ss_customer_sk) tickets
JOIN customer ON c_customer_sk = ss_customer_sk
WHERE things BETWEEN 15 AND 20
ORDER BY c_last_name IS NOT NULL, c_last_name, c_first_name IS NOT NULL, c_first_name, c_salutation IS NOT NULL, c_salutation,
    c_preferred_cust_flag IS NOT NULL, c_preferred_cust_flag DESC, ss_ticket_number;
