-- Sales of items of certain colours to a time zone in a month, in all channels together.
-- statement: q56
SELECT i_item_id, SUM(sold)
FROM (
    SELECT i_item_id, SUM(ss_ext_sales_price) AS sold
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = ss_item_sk
    JOIN customer_address ON ca_address_sk = ss_addr_sk
    WHERE d_year = {year} AND d_moy = {month} AND ca_gmt_offset = {offset}
        AND i_item_id IN (SELECT i_item_id FROM item WHERE i_color IN ({colours}))
    GROUP BY i_item_id
    UNION ALL
    SELECT i_item_id, SUM(cs_ext_sales_price) AS sold
    FROM date_dim
    JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = cs_item_sk
    JOIN customer_address ON ca_address_sk = cs_bill_addr_sk
    WHERE d_year = {year} AND d_moy = {month} AND ca_gmt_offset = {offset}
        AND i_item_id IN (SELECT i_item_id FROM item WHERE i_color IN ({colours}))
    GROUP BY i_item_id
    UNION ALL
    SELECT i_item_id, SUM(ws_ext_sales_price) AS sold
    FROM date_dim
    JOIN web_sales ON ws_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = ws_item_sk
    JOIN customer_address ON ca_address_sk = ws_bill_addr_sk
    WHERE d_year = {year} AND d_moy = {month} AND ca_gmt_offset = {offset}
        AND i_item_id IN (SELECT i_item_id FROM item WHERE i_color IN ({colours}))
    GROUP BY i_item_id) sales
GROUP BY i_item_id
ORDER BY SUM(sold) IS NOT NULL, SUM(sold), i_item_id
LIMIT 100;
