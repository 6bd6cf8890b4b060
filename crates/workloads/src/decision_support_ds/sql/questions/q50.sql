-- How long it took until goods came back to a store, counted in five spans of days.
-- statement: q50
SELECT s_store_name, s_company_id, s_street_number, s_street_name, s_street_type, s_suite_number, s_city, s_county, s_state, s_zip,
    SUM(CASE WHEN days <= 30 THEN 1 ELSE 0 END), SUM(CASE WHEN days > 30 AND days <= 60 THEN 1 ELSE 0 END),
    SUM(CASE WHEN days > 60 AND days <= 90 THEN 1 ELSE 0 END), SUM(CASE WHEN days > 90 AND days <= 120 THEN 1 ELSE 0 END),
    SUM(CASE WHEN days > 120 THEN 1 ELSE 0 END)
FROM (
    SELECT ss_store_sk, sr_returned_date_sk - ss_sold_date_sk AS days
    FROM date_dim return_date
    JOIN store_returns ON sr_returned_date_sk = return_date.d_date_sk
    JOIN store_sales ON ss_item_sk = sr_item_sk AND ss_ticket_number = sr_ticket_number AND ss_customer_sk = sr_customer_sk
    JOIN date_dim sale_date ON sale_date.d_date_sk = ss_sold_date_sk
    WHERE return_date.d_year = {year} AND return_date.d_moy = {month}) returned
JOIN store ON s_store_sk = ss_store_sk
GROUP BY s_store_name, s_company_id, s_street_number, s_street_name, s_street_type, s_suite_number, s_city, s_county, s_state, s_zip
ORDER BY s_store_name IS NOT NULL, s_store_name, s_company_id, s_street_number, s_street_name, s_street_type, s_suite_number, s_city,
    s_county, s_state, s_zip
LIMIT 100;
