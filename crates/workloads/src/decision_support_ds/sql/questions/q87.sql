-- Names of those who bought something in stores on a day of a year, and nothing from the catalog or on the web.
-- statement: q87
SELECT COUNT(*)
FROM (
    SELECT DISTINCT c_last_name, c_first_name, d_date
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN customer ON c_customer_sk = ss_customer_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11
    EXCEPT
    SELECT DISTINCT c_last_name, c_first_name, d_date
    FROM date_dim
    JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
    JOIN customer ON c_customer_sk = cs_bill_customer_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11
    EXCEPT
    SELECT DISTINCT c_last_name, c_first_name, d_date
    FROM date_dim
    JOIN web_sales ON ws_sold_date_sk = d_date_sk
    JOIN customer ON c_customer_sk = ws_bill_customer_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11) only_in_stores;
