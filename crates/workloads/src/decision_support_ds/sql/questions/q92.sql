-- Discounts on the web for items of one maker that are far above the item's average in three months.
-- statement: q92
SELECT SUM(discount)
FROM (
    SELECT ws_ext_discount_amt AS discount, AVG(ws_ext_discount_amt) OVER (PARTITION BY ws_item_sk) AS usual
    FROM item
    JOIN web_sales ON ws_item_sk = i_item_sk
    JOIN date_dim ON d_date_sk = ws_sold_date_sk
    WHERE i_manufact_id = {maker} AND d_date BETWEEN {first} AND {last}) discounts
WHERE discount > 1.3 * usual
LIMIT 100;
