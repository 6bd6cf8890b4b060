-- What categories of the first manager brought in a month.
-- statement: q42
SELECT d_year, i_category_id, i_category, SUM(ss_ext_sales_price) AS total
FROM date_dim
JOIN store_sales ON ss_sold_date_sk = d_date_sk
JOIN item ON i_item_sk = ss_item_sk
WHERE i_manager_id = 1 AND d_moy = {month} AND d_year = {year}
GROUP BY d_year, i_category_id, i_category
ORDER BY SUM(ss_ext_sales_price) IS NULL, total DESC, d_year, i_category_id, i_category
LIMIT 100;
