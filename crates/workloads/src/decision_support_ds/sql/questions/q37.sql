-- Goods of the catalog from four manufacturers, within a band of prices, of which a warehouse had 100 to 500 in two months.
-- statement: q37
SELECT DISTINCT i_item_id, i_item_desc, i_current_price
FROM item
JOIN inventory ON inv_item_sk = i_item_sk
JOIN date_dim ON d_date_sk = inv_date_sk
WHERE i_current_price BETWEEN {least} AND {most} AND i_manufact_id IN ({manufacturers})
    AND d_date BETWEEN {first} AND {last} AND inv_quantity_on_hand BETWEEN 100 AND 500
    AND EXISTS (SELECT 1 FROM catalog_sales WHERE cs_item_sk = i_item_sk)
ORDER BY i_item_id, i_item_desc, i_current_price
LIMIT 100;
