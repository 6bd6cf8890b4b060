-- Customers of a state who returned goods of the web for more than 1.2 times what is usual where they returned them from.
-- statement: q30
SELECT c_customer_id, c_salutation, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_day, c_birth_month, c_birth_year,
    c_birth_country, c_login, c_email_address, c_last_review_date_sk, total
FROM (
    SELECT customer_key, total, state, AVG(total) OVER (PARTITION BY state) AS usual
    FROM (
        SELECT wr_returning_customer_sk AS customer_key, ca_state AS state, SUM(wr_return_amt) AS total
        FROM date_dim
        JOIN web_returns ON wr_returned_date_sk = d_date_sk
        JOIN customer_address ON ca_address_sk = wr_returning_addr_sk
        WHERE d_year = {year}
        GROUP BY wr_returning_customer_sk, ca_state) returned) compared
JOIN customer ON c_customer_sk = customer_key
JOIN customer_address ON ca_address_sk = c_current_addr_sk
WHERE total > 1.2 * usual AND state IS NOT NULL AND ca_state = {state}
ORDER BY c_customer_id, total
LIMIT 100;
