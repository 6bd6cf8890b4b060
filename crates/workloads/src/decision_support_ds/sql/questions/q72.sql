-- Orders from the catalog for more than a warehouse had in that week, which took long to be shipped.
-- statement: q72
SELECT i_item_desc, w_warehouse_name, week, SUM(CASE WHEN p_promo_sk IS NULL THEN 1 ELSE 0 END) AS without_promotion,
    SUM(CASE WHEN p_promo_sk IS NULL THEN 0 ELSE 1 END) AS with_promotion, COUNT(*) AS orders
FROM (
    SELECT cs_item_sk, cs_order_number, cs_promo_sk, cs_quantity, sold.d_week_seq AS week
    FROM date_dim sold
    JOIN catalog_sales ON cs_sold_date_sk = sold.d_date_sk
    JOIN customer_demographics ON cd_demo_sk = cs_bill_cdemo_sk
    JOIN household_demographics ON hd_demo_sk = cs_bill_hdemo_sk
    JOIN date_dim shipped ON shipped.d_date_sk = cs_ship_date_sk
    WHERE sold.d_year = {year} AND cd_marital_status = {marital} AND hd_buy_potential = {potential}
        AND cs_ship_date_sk > cs_sold_date_sk + 5) late
JOIN item ON i_item_sk = cs_item_sk
JOIN date_dim counted ON counted.d_week_seq = week
JOIN inventory ON inv_item_sk = cs_item_sk AND inv_date_sk = counted.d_date_sk AND inv_quantity_on_hand < cs_quantity
JOIN warehouse ON w_warehouse_sk = inv_warehouse_sk
LEFT JOIN promotion ON p_promo_sk = cs_promo_sk
LEFT JOIN catalog_returns ON cr_item_sk = cs_item_sk AND cr_order_number = cs_order_number
GROUP BY i_item_desc, w_warehouse_name, week
ORDER BY orders DESC, i_item_desc IS NOT NULL, i_item_desc, w_warehouse_name IS NOT NULL, w_warehouse_name, week
LIMIT 100;
