-- How much those who bought a class of goods from the catalog or on the web spent in the three months after that, in stores of
-- their own county: customers for each fifty.
-- statement: q54
WITH buyer AS (
    SELECT DISTINCT c_customer_sk, c_current_addr_sk
    FROM (
        SELECT cs_bill_customer_sk AS customer_key, cs_item_sk AS item_key
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        WHERE d_year = {year} AND d_moy = {month}
        UNION ALL
        SELECT ws_bill_customer_sk, ws_item_sk
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        WHERE d_year = {year} AND d_moy = {month}) sales
    JOIN item ON i_item_sk = item_key
    JOIN customer ON c_customer_sk = customer_key
    WHERE i_category = {category} AND i_class = {class})
SELECT segment, COUNT(*) AS customers, segment * 50
FROM (
    SELECT (revenue - revenue % (50 * {one})) / (50 * {one}) AS segment
    FROM (
        SELECT c_customer_sk, SUM(ss_ext_sales_price) AS revenue
        FROM buyer
        JOIN customer_address ON ca_address_sk = c_current_addr_sk
        JOIN store ON s_county = ca_county AND s_state = ca_state
        JOIN store_sales ON ss_customer_sk = c_customer_sk
        JOIN date_dim ON d_date_sk = ss_sold_date_sk
        WHERE d_month_seq BETWEEN
            (SELECT MIN(d_month_seq) + 1 FROM date_dim WHERE d_year = {year} AND d_moy = {month})
            AND (SELECT MIN(d_month_seq) + 3 FROM date_dim WHERE d_year = {year} AND d_moy = {month})
        GROUP BY c_customer_sk) spent) segments
GROUP BY segment
ORDER BY segment IS NOT NULL, segment, customers
LIMIT 100;
