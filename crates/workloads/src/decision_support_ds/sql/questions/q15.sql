-- What the catalog sold in a quarter in some places and states, or at high prices.
-- statement: q15
SELECT ca_zip, SUM(cs_sales_price)
FROM date_dim
JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
JOIN customer ON c_customer_sk = cs_bill_customer_sk
JOIN customer_address ON ca_address_sk = c_current_addr_sk
WHERE d_qoy = {quarter} AND d_year = {year}
    AND (SUBSTR(ca_zip, 1, 5) IN ('85669', '86197', '88274', '83405', '86475', '85392', '85460', '80348', '81792')
        OR ca_state IN ('CA', 'WA', 'GA') OR cs_sales_price > 500 * {one})
GROUP BY ca_zip
ORDER BY ca_zip IS NOT NULL, ca_zip
LIMIT 100;
