-- What brands of a manager brought in a month from customers who do not live near the store.
-- statement: q19
SELECT i_brand_id, i_brand, i_manufact_id, i_manufact, SUM(ss_ext_sales_price) AS total
FROM date_dim
JOIN store_sales ON ss_sold_date_sk = d_date_sk
JOIN item ON i_item_sk = ss_item_sk
JOIN customer ON c_customer_sk = ss_customer_sk
JOIN customer_address ON ca_address_sk = c_current_addr_sk
JOIN store ON s_store_sk = ss_store_sk
WHERE i_manager_id = {manager} AND d_moy = {month} AND d_year = {year} AND SUBSTR(ca_zip, 1, 5) <> SUBSTR(s_zip, 1, 5)
GROUP BY i_brand, i_brand_id, i_manufact_id, i_manufact
ORDER BY SUM(ss_ext_sales_price) IS NULL, total DESC, i_brand, i_brand_id, i_manufact_id, i_manufact
LIMIT 100;
