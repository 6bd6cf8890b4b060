-- Pairs of customers and items that were sold in stores only, from the catalog only, and both, in a year.
-- statement: q97
SELECT SUM(CASE WHEN in_catalog = 0 THEN 1 ELSE 0 END), SUM(CASE WHEN in_store = 0 THEN 1 ELSE 0 END),
    SUM(CASE WHEN in_store = 1 AND in_catalog = 1 THEN 1 ELSE 0 END)
FROM (
    SELECT MAX(in_store) AS in_store, MAX(in_catalog) AS in_catalog
    FROM (
        SELECT DISTINCT ss_customer_sk AS customer_key, ss_item_sk AS item_key, 1 AS in_store, 0 AS in_catalog
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        WHERE d_month_seq BETWEEN {month} AND {month} + 11 AND ss_customer_sk IS NOT NULL
        UNION ALL
        SELECT DISTINCT cs_bill_customer_sk, cs_item_sk, 0, 1
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        WHERE d_month_seq BETWEEN {month} AND {month} + 11 AND cs_bill_customer_sk IS NOT NULL) sales
    GROUP BY customer_key, item_key) pairs
LIMIT 100;
