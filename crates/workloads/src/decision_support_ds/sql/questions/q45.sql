-- What the web sold in a quarter to some places, or of ten items.
-- statement: q45
SELECT ca_zip, place, SUM(ws_sales_price)
FROM (
    SELECT ca_zip, CASE {place} WHEN 1 THEN ca_city WHEN 2 THEN ca_county ELSE ca_state END AS place, ws_sales_price
    FROM date_dim
    JOIN web_sales ON ws_sold_date_sk = d_date_sk
    JOIN customer ON c_customer_sk = ws_bill_customer_sk
    JOIN customer_address ON ca_address_sk = c_current_addr_sk
    JOIN item ON i_item_sk = ws_item_sk
    WHERE d_qoy = {quarter} AND d_year = {year}
        AND (SUBSTR(ca_zip, 1, 5) IN ('85669', '86197', '88274', '83405', '86475', '85392', '85460', '80348', '81792')
            OR i_item_id IN (SELECT i_item_id FROM item WHERE i_item_sk IN (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)))) sold
GROUP BY ca_zip, place
ORDER BY ca_zip IS NOT NULL, ca_zip, place IS NOT NULL, place
LIMIT 100;
