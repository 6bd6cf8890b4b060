-- Products of manufacturers who make clothes of certain colours, units and sizes.
-- statement: q41
SELECT DISTINCT i_product_name
FROM item
WHERE i_manufact_id BETWEEN {manufacturer} AND {manufacturer} + 40 AND i_manufact IN (
    SELECT i_manufact
    FROM item
    WHERE (i_category = 'Women' AND i_color IN ({colours_1}) AND i_units IN ({units_1}) AND i_size IN ({sizes_1}))
        OR (i_category = 'Women' AND i_color IN ({colours_2}) AND i_units IN ({units_2}) AND i_size IN ({sizes_2}))
        OR (i_category = 'Men' AND i_color IN ({colours_3}) AND i_units IN ({units_3}) AND i_size IN ({sizes_3}))
        OR (i_category = 'Men' AND i_color IN ({colours_4}) AND i_units IN ({units_4}) AND i_size IN ({sizes_1}))
        OR (i_category = 'Women' AND i_color IN ({colours_5}) AND i_units IN ({units_5}) AND i_size IN ({sizes_1}))
        OR (i_category = 'Women' AND i_color IN ({colours_6}) AND i_units IN ({units_6}) AND i_size IN ({sizes_2}))
        OR (i_category = 'Men' AND i_color IN ({colours_7}) AND i_units IN ({units_7}) AND i_size IN ({sizes_3}))
        OR (i_category = 'Men' AND i_color IN ({colours_8}) AND i_units IN ({units_8}) AND i_size IN ({sizes_1})))
ORDER BY i_product_name
LIMIT 100;
