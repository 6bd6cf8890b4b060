-- How many of which goods of about a dollar were in which warehouse in the month before a day and in that after it, if neither is more
-- than one and a half times the other.
-- statement: q21
SELECT w_warehouse_name, i_item_id, before_it, after_it
FROM (
    SELECT w_warehouse_name, i_item_id, SUM(CASE WHEN d_date < {day} THEN inv_quantity_on_hand ELSE 0 END) AS before_it,
        SUM(CASE WHEN d_date >= {day} THEN inv_quantity_on_hand ELSE 0 END) AS after_it
    FROM date_dim
    JOIN inventory ON inv_date_sk = d_date_sk
    JOIN warehouse ON w_warehouse_sk = inv_warehouse_sk
    JOIN item ON i_item_sk = inv_item_sk
    WHERE d_date BETWEEN {first} AND {last} AND 100 * i_current_price BETWEEN 99 * {one} AND 149 * {one}
    GROUP BY w_warehouse_name, i_item_id) stock
WHERE before_it > 0 AND 3 * after_it >= 2 * before_it AND 2 * after_it <= 3 * before_it
ORDER BY w_warehouse_name IS NOT NULL, w_warehouse_name, i_item_id
LIMIT 100;
