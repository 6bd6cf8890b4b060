-- Counties where sales on the web grew more than those in stores in the first two quarters that followed the first of a year.
-- statement: q31
SELECT store_county, {year}, 1.0000 * web_2 / web_1 AS web_early, 1.0000 * store_2 / store_1 AS store_early,
    1.0000 * web_3 / web_2 AS web_late, 1.0000 * store_3 / store_2 AS store_late
FROM (
    SELECT ca_county AS store_county, SUM(CASE WHEN d_qoy = 1 THEN ss_ext_sales_price END) AS store_1,
        SUM(CASE WHEN d_qoy = 2 THEN ss_ext_sales_price END) AS store_2,
        SUM(CASE WHEN d_qoy = 3 THEN ss_ext_sales_price END) AS store_3
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN customer_address ON ca_address_sk = ss_addr_sk
    WHERE d_year = {year} AND d_qoy <= 3
    GROUP BY ca_county) in_stores
JOIN (
    SELECT ca_county AS web_county, SUM(CASE WHEN d_qoy = 1 THEN ws_ext_sales_price END) AS web_1,
        SUM(CASE WHEN d_qoy = 2 THEN ws_ext_sales_price END) AS web_2,
        SUM(CASE WHEN d_qoy = 3 THEN ws_ext_sales_price END) AS web_3
    FROM date_dim
    JOIN web_sales ON ws_sold_date_sk = d_date_sk
    JOIN customer_address ON ca_address_sk = ws_bill_addr_sk
    WHERE d_year = {year} AND d_qoy <= 3
    GROUP BY ca_county) on_the_web ON web_county = store_county
WHERE 1.0000 * web_2 / NULLIF(web_1, 0) > 1.0000 * store_2 / NULLIF(store_1, 0)
    AND 1.0000 * web_3 / NULLIF(web_2, 0) > 1.0000 * store_3 / NULLIF(store_2, 0)
ORDER BY CASE {order} WHEN 1 THEN 1.0000 * web_2 / web_1 WHEN 2 THEN 1.0000 * store_2 / store_1 WHEN 3 THEN 1.0000 * web_3 / web_2
    WHEN 4 THEN 1.0000 * store_3 / store_2 END, store_county;
