-- What stores sold in a month of the brands of one manager.
-- statement: q55
SELECT i_brand_id, i_brand, SUM(ss_ext_sales_price)
FROM date_dim
JOIN store_sales ON ss_sold_date_sk = d_date_sk
JOIN item ON i_item_sk = ss_item_sk
WHERE i_manager_id = {manager} AND d_moy = {month} AND d_year = {year}
GROUP BY i_brand_id, i_brand
ORDER BY SUM(ss_ext_sales_price) IS NULL, SUM(ss_ext_sales_price) DESC, i_brand_id IS NULL, i_brand_id
LIMIT 100;
