-- Who bought one to five things at once on the first days of months in certain counties, with more dependents than vehicles.
-- statement: q73
SELECT c_last_name, c_first_name, c_salutation, c_preferred_cust_flag, ss_ticket_number, things
FROM (
    SELECT ss_ticket_number, ss_customer_sk, COUNT(*) AS things
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN store ON s_store_sk = ss_store_sk
    JOIN household_demographics ON hd_demo_sk = ss_hdemo_sk
    WHERE d_dom BETWEEN 1 AND 2 AND d_year IN ({year}, {year} + 1, {year} + 2) AND hd_buy_potential IN ({potentials})
        AND hd_vehicle_count > 0 AND hd_dep_count > hd_vehicle_count AND s_county IN ({counties})
    GROUP BY ss_ticket_number, ss_customer_sk) tickets
JOIN customer ON c_customer_sk = ss_customer_sk
WHERE things BETWEEN 1 AND 5
ORDER BY things DESC, c_last_name IS NULL, c_last_name;
