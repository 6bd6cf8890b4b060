-- What goods of manufacturers of a category brought in a month in one time zone, over all channels.
-- statement: q33
SELECT i_manufact_id, SUM(amount) AS total
FROM (
    SELECT ss_item_sk AS item_key, ss_addr_sk AS address_key, ss_ext_sales_price AS amount
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    WHERE d_year = {year} AND d_moy = {month}
    UNION ALL
    SELECT cs_item_sk, cs_bill_addr_sk, cs_ext_sales_price
    FROM date_dim
    JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
    WHERE d_year = {year} AND d_moy = {month}
    UNION ALL
    SELECT ws_item_sk, ws_bill_addr_sk, ws_ext_sales_price
    FROM date_dim
    JOIN web_sales ON ws_sold_date_sk = d_date_sk
    WHERE d_year = {year} AND d_moy = {month}) sales
JOIN item ON i_item_sk = item_key
JOIN customer_address ON ca_address_sk = address_key
WHERE i_manufact_id IN (SELECT i_manufact_id FROM item WHERE i_category = {category}) AND ca_gmt_offset = {offset}
GROUP BY i_manufact_id
ORDER BY SUM(amount) IS NULL, total, i_manufact_id
LIMIT 100;
