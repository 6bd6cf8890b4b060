-- What goods of three categories brought from the catalog in a month, and their shares of their classes.
-- statement: q20
SELECT i_item_id, i_item_desc, i_category, i_class, i_current_price, total, 100.0000 * total / NULLIF(total_of_class, 0) AS share
FROM (
    SELECT i_item_id, i_item_desc, i_category, i_class, i_current_price, SUM(cs_ext_sales_price) AS total,
        SUM(SUM(cs_ext_sales_price)) OVER (PARTITION BY i_class) AS total_of_class
    FROM date_dim
    JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = cs_item_sk
    WHERE d_date BETWEEN {first} AND {last} AND i_category IN ({categories})
    GROUP BY i_item_id, i_item_desc, i_category, i_class, i_current_price) sold
ORDER BY i_category, i_class IS NOT NULL, i_class, i_item_id, i_item_desc IS NOT NULL, i_item_desc, share
LIMIT 100;
