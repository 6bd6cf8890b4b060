-- States with at least ten sales in a month of goods that cost more than 1.2 times what is usual in their category.
-- statement: q06
SELECT ca_state, COUNT(*) AS sales
FROM date_dim
JOIN store_sales ON ss_sold_date_sk = d_date_sk
JOIN item ON i_item_sk = ss_item_sk
JOIN (SELECT i_category AS category, AVG(i_current_price) AS usual FROM item GROUP BY i_category) prices
    ON category = i_category
JOIN customer ON c_customer_sk = ss_customer_sk
JOIN customer_address ON ca_address_sk = c_current_addr_sk
WHERE d_month_seq = (SELECT DISTINCT d_month_seq FROM date_dim WHERE d_year = {year} AND d_moy = {month})
    AND i_current_price > 1.2 * usual
GROUP BY ca_state
HAVING COUNT(*) >= 10
ORDER BY sales, ca_state IS NULL, ca_state
LIMIT 100;
