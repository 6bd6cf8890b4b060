-- What a manufacturer's brands brought in a month of each year.
-- statement: q03
SELECT d_year, i_brand_id, i_brand, total
FROM (
    SELECT d_year, i_brand_id, i_brand,
        SUM(CASE {measure} WHEN 1 THEN ss_ext_sales_price WHEN 2 THEN ss_sales_price WHEN 3 THEN ss_ext_discount_amt
            ELSE ss_net_profit END) AS total
    FROM item
    JOIN store_sales ON ss_item_sk = i_item_sk
    JOIN date_dim ON d_date_sk = ss_sold_date_sk
    WHERE i_manufact_id = {manufacturer} AND d_moy = {month}
    GROUP BY d_year, i_brand_id, i_brand) brands
ORDER BY d_year, total IS NULL, total DESC, i_brand_id
LIMIT 100;
