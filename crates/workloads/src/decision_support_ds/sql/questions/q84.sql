-- Customers of a city with an income in a range, once for each return by people like them.
-- statement: q84
SELECT c_customer_id, CONCAT(RTRIM(COALESCE(c_last_name, '')), ', ', RTRIM(COALESCE(c_first_name, '')))
FROM customer_address
JOIN customer ON c_current_addr_sk = ca_address_sk
JOIN customer_demographics ON cd_demo_sk = c_current_cdemo_sk
JOIN household_demographics ON hd_demo_sk = c_current_hdemo_sk
JOIN income_band ON ib_income_band_sk = hd_income_band_sk
JOIN store_returns ON sr_cdemo_sk = cd_demo_sk
WHERE ca_city = {city} AND ib_lower_bound >= {income} AND ib_upper_bound <= {income} + 50000
ORDER BY c_customer_id
LIMIT 100;
