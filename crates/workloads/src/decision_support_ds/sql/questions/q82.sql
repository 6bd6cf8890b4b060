-- Items of certain makers and prices that were in stock in two months and have been sold in stores.
-- statement: q82
SELECT i_item_id, i_item_desc, i_current_price
FROM item
WHERE i_current_price BETWEEN {least} AND {most} AND i_manufact_id IN ({makers})
    AND EXISTS (
        SELECT 1
        FROM inventory
        JOIN date_dim ON d_date_sk = inv_date_sk
        WHERE inv_item_sk = i_item_sk AND d_date BETWEEN {first} AND {last} AND inv_quantity_on_hand BETWEEN 100 AND 500)
    AND EXISTS (SELECT 1 FROM store_sales WHERE ss_item_sk = i_item_sk)
GROUP BY i_item_id, i_item_desc, i_current_price
ORDER BY i_item_id
LIMIT 100;
