-- How many people bought in stores, from the catalog and on the web on the same day of a year.
-- statement: q38
SELECT COUNT(*)
FROM (
    SELECT c_last_name, c_first_name, d_date
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN customer ON c_customer_sk = ss_customer_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11
    INTERSECT
    SELECT c_last_name, c_first_name, d_date
    FROM date_dim
    JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
    JOIN customer ON c_customer_sk = cs_bill_customer_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11
    INTERSECT
    SELECT c_last_name, c_first_name, d_date
    FROM date_dim
    JOIN web_sales ON ws_sold_date_sk = d_date_sk
    JOIN customer ON c_customer_sk = ws_bill_customer_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11) shoppers;
