-- Customers of a state who returned more than a fifth above the average of where they were, of what they bought from the catalog.
-- statement: q81
SELECT c_customer_id, c_salutation, c_first_name, c_last_name, ca_street_number, ca_street_name, ca_street_type,
    ca_suite_number, ca_city, ca_county, ca_state, ca_zip, ca_country, ca_gmt_offset, ca_location_type, returned
FROM (
    SELECT cr_returning_customer_sk AS customer_key, SUM(cr_return_amt_inc_tax) AS returned,
        AVG(SUM(cr_return_amt_inc_tax)) OVER (PARTITION BY ca_state) AS usual, ca_state AS returned_from
    FROM date_dim
    JOIN catalog_returns ON cr_returned_date_sk = d_date_sk
    JOIN customer_address ON ca_address_sk = cr_returning_addr_sk
    WHERE d_year = {year}
    GROUP BY cr_returning_customer_sk, ca_state) returns
JOIN customer ON c_customer_sk = customer_key
JOIN customer_address ON ca_address_sk = c_current_addr_sk
WHERE returned_from IS NOT NULL AND returned > 1.2 * usual AND ca_state = {state}
ORDER BY c_customer_id, c_salutation IS NOT NULL, c_salutation, c_first_name IS NOT NULL, c_first_name,
    c_last_name IS NOT NULL, c_last_name, ca_street_number IS NOT NULL, ca_street_number,
    ca_street_name IS NOT NULL, ca_street_name, ca_street_type IS NOT NULL, ca_street_type,
    ca_suite_number IS NOT NULL, ca_suite_number, ca_city IS NOT NULL, ca_city, ca_county IS NOT NULL, ca_county,
    ca_state IS NOT NULL, ca_state, ca_zip IS NOT NULL, ca_zip, ca_country IS NOT NULL, ca_country,
    ca_gmt_offset IS NOT NULL, ca_gmt_offset, ca_location_type IS NOT NULL, ca_location_type, returned
LIMIT 100;
