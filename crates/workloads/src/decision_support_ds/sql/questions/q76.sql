-- Sales of which something is not known, by channel, quarter and category.
-- statement: q76
SELECT channel, missing, d_year, d_qoy, i_category, COUNT(*), SUM(price)
FROM (
    SELECT 'store' AS channel, {store_column} AS missing, d_year, d_qoy, i_category, ss_ext_sales_price AS price
    FROM store_sales
    JOIN item ON i_item_sk = ss_item_sk
    JOIN date_dim ON d_date_sk = ss_sold_date_sk
    WHERE CASE {store_key} WHEN 1 THEN ss_customer_sk WHEN 2 THEN ss_cdemo_sk WHEN 3 THEN ss_hdemo_sk WHEN 4 THEN ss_addr_sk
        WHEN 5 THEN ss_store_sk WHEN 6 THEN ss_promo_sk END IS NULL
    UNION ALL
    SELECT 'web', {web_column}, d_year, d_qoy, i_category, ws_ext_sales_price
    FROM web_sales
    JOIN item ON i_item_sk = ws_item_sk
    JOIN date_dim ON d_date_sk = ws_sold_date_sk
    WHERE CASE {web_key} WHEN 1 THEN ws_bill_customer_sk WHEN 2 THEN ws_bill_hdemo_sk WHEN 3 THEN ws_bill_addr_sk
        WHEN 4 THEN ws_ship_customer_sk WHEN 5 THEN ws_ship_cdemo_sk WHEN 6 THEN ws_ship_hdemo_sk
        WHEN 7 THEN ws_ship_addr_sk WHEN 8 THEN ws_web_page_sk WHEN 9 THEN ws_web_site_sk WHEN 10 THEN ws_ship_mode_sk
        WHEN 11 THEN ws_warehouse_sk WHEN 12 THEN ws_promo_sk END IS NULL
    UNION ALL
    SELECT 'catalog', {catalog_column}, d_year, d_qoy, i_category, cs_ext_sales_price
    FROM catalog_sales
    JOIN item ON i_item_sk = cs_item_sk
    JOIN date_dim ON d_date_sk = cs_sold_date_sk
    WHERE CASE {catalog_key} WHEN 1 THEN cs_bill_customer_sk WHEN 2 THEN cs_bill_hdemo_sk WHEN 3 THEN cs_bill_addr_sk
        WHEN 4 THEN cs_ship_customer_sk WHEN 5 THEN cs_ship_cdemo_sk WHEN 6 THEN cs_ship_hdemo_sk
        WHEN 7 THEN cs_ship_addr_sk WHEN 8 THEN cs_call_center_sk WHEN 9 THEN cs_ship_mode_sk WHEN 10 THEN cs_warehouse_sk
        WHEN 11 THEN cs_promo_sk END IS NULL) sales
GROUP BY channel, missing, d_year, d_qoy, i_category
ORDER BY channel, missing, d_year, d_qoy, i_category IS NOT NULL, i_category
LIMIT 100;
