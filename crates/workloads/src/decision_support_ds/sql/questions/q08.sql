-- Profit of stores near places with many preferred customers in a quarter. A sale counts once for each such place.
-- statement: q08
SELECT s_store_name, SUM(places * ss_net_profit)
FROM (
    SELECT SUBSTR(zip, 1, 2) AS area, COUNT(*) AS places
    FROM (
        SELECT SUBSTR(ca_zip, 1, 5) AS zip
        FROM customer_address
        WHERE SUBSTR(ca_zip, 1, 5) IN ({zips})
        INTERSECT
        SELECT SUBSTR(ca_zip, 1, 5) AS zip
        FROM customer_address
        JOIN customer ON c_current_addr_sk = ca_address_sk
        WHERE c_preferred_cust_flag = 'Y'
        GROUP BY SUBSTR(ca_zip, 1, 5)
        HAVING COUNT(*) > 10) matching
    GROUP BY SUBSTR(zip, 1, 2)) areas
JOIN store ON SUBSTR(s_zip, 1, 2) = area
JOIN store_sales ON ss_store_sk = s_store_sk
JOIN date_dim ON d_date_sk = ss_sold_date_sk
WHERE d_qoy = {quarter} AND d_year = {year}
GROUP BY s_store_name
ORDER BY s_store_name
LIMIT 100;
