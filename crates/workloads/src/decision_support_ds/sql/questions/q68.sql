-- Shopping on the first days of months, by people who bought in another city than they live in.
-- statement: q68
SELECT c_last_name, c_first_name, lives.ca_city, bought_city, ss_ticket_number, sold, tax, list_price
FROM (
    SELECT ss_ticket_number, ss_customer_sk, bought.ca_city AS bought_city, SUM(ss_ext_sales_price) AS sold,
        SUM(ss_ext_list_price) AS list_price, SUM(ss_ext_tax) AS tax
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN store ON s_store_sk = ss_store_sk
    JOIN household_demographics ON hd_demo_sk = ss_hdemo_sk
    JOIN customer_address bought ON bought.ca_address_sk = ss_addr_sk
    WHERE d_dom BETWEEN 1 AND 2 AND (hd_dep_count = {dependents} OR hd_vehicle_count = {vehicles})
        AND d_year IN ({year}, {year} + 1, {year} + 2) AND s_city IN ({cities})
    GROUP BY ss_ticket_number, ss_customer_sk, ss_addr_sk, bought.ca_city) tickets
JOIN customer ON c_customer_sk = ss_customer_sk
JOIN customer_address lives ON lives.ca_address_sk = c_current_addr_sk
WHERE lives.ca_city <> bought_city
ORDER BY c_last_name IS NOT NULL, c_last_name, ss_ticket_number, bought_city, sold
LIMIT 100;
