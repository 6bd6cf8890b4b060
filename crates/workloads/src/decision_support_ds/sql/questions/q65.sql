-- Items that brought a store at most a tenth of what its items bring it on average in a year.
-- statement: q65
SELECT s_store_name, i_item_desc, revenue, i_current_price, i_wholesale_cost, i_brand
FROM (
    SELECT ss_store_sk, ss_item_sk, SUM(ss_sales_price) AS revenue,
        AVG(SUM(ss_sales_price)) OVER (PARTITION BY ss_store_sk) AS usual
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11
    GROUP BY ss_store_sk, ss_item_sk) revenues
JOIN store ON s_store_sk = ss_store_sk
JOIN item ON i_item_sk = ss_item_sk
WHERE 10 * revenue <= usual
ORDER BY s_store_name IS NOT NULL, s_store_name, i_item_desc IS NOT NULL, i_item_desc, revenue
LIMIT 100;
