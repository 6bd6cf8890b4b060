-- Items of certain categories that stores sold in thirty days, and their percentage of their class.
-- statement: q98
SELECT i_item_id, i_item_desc, i_category, i_class, i_current_price, revenue,
    100.0000 * revenue / NULLIF(SUM(revenue) OVER (PARTITION BY i_class), 0) AS ratio
FROM (
    SELECT i_item_id, i_item_desc, i_category, i_class, i_current_price, SUM(ss_ext_sales_price) AS revenue
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = ss_item_sk
    WHERE i_category IN ({categories}) AND d_date BETWEEN {first} AND {last}
    GROUP BY i_item_id, i_item_desc, i_category, i_class, i_current_price) items
ORDER BY i_category, i_class IS NULL, i_class, i_item_id, i_item_desc IS NULL, i_item_desc, ratio;
