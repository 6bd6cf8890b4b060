-- What goods of about a dollar from the catalog brought in the month before a day and in that after it, less what was paid back, by the
-- state of the warehouse.
-- statement: q40
SELECT w_state, i_item_id, SUM(CASE WHEN d_date < {day} THEN cs_sales_price - COALESCE(cr_refunded_cash, 0) ELSE 0 END),
    SUM(CASE WHEN d_date >= {day} THEN cs_sales_price - COALESCE(cr_refunded_cash, 0) ELSE 0 END)
FROM date_dim
JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
LEFT JOIN catalog_returns ON cr_item_sk = cs_item_sk AND cr_order_number = cs_order_number
JOIN warehouse ON w_warehouse_sk = cs_warehouse_sk
JOIN item ON i_item_sk = cs_item_sk
WHERE d_date BETWEEN {first} AND {last} AND 100 * i_current_price BETWEEN 99 * {one} AND 149 * {one}
GROUP BY w_state, i_item_id
ORDER BY w_state IS NOT NULL, w_state, i_item_id
LIMIT 100;
