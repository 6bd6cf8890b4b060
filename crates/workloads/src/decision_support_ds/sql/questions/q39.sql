-- Goods whose stock in a warehouse varied much in a month and in the next. The second part asks where it varied even more in the first.
-- statement: q39a
WITH stock AS (
    SELECT w_warehouse_sk, i_item_sk, d_moy, AVG(inv_quantity_on_hand) AS average,
        STDDEV_SAMP(inv_quantity_on_hand) / NULLIF(AVG(inv_quantity_on_hand), 0) AS variation
    FROM date_dim
    JOIN inventory ON inv_date_sk = d_date_sk
    JOIN item ON i_item_sk = inv_item_sk
    JOIN warehouse ON w_warehouse_sk = inv_warehouse_sk
    WHERE d_year = {year} AND d_moy IN ({month}, {month} + 1)
    GROUP BY w_warehouse_sk, i_item_sk, d_moy)
SELECT now.w_warehouse_sk, now.i_item_sk, now.d_moy, now.average, now.variation,
    later.w_warehouse_sk, later.i_item_sk, later.d_moy, later.average, later.variation
FROM stock now
JOIN stock later ON later.w_warehouse_sk = now.w_warehouse_sk AND later.i_item_sk = now.i_item_sk
WHERE now.d_moy = {month} AND later.d_moy = {month} + 1 AND now.variation > 1 AND later.variation > 1
ORDER BY now.w_warehouse_sk, now.i_item_sk;

-- statement: q39b
WITH stock AS (
    SELECT w_warehouse_sk, i_item_sk, d_moy, AVG(inv_quantity_on_hand) AS average,
        STDDEV_SAMP(inv_quantity_on_hand) / NULLIF(AVG(inv_quantity_on_hand), 0) AS variation
    FROM date_dim
    JOIN inventory ON inv_date_sk = d_date_sk
    JOIN item ON i_item_sk = inv_item_sk
    JOIN warehouse ON w_warehouse_sk = inv_warehouse_sk
    WHERE d_year = {year} AND d_moy IN ({month}, {month} + 1)
    GROUP BY w_warehouse_sk, i_item_sk, d_moy)
SELECT now.w_warehouse_sk, now.i_item_sk, now.d_moy, now.average, now.variation,
    later.w_warehouse_sk, later.i_item_sk, later.d_moy, later.average, later.variation
FROM stock now
JOIN stock later ON later.w_warehouse_sk = now.w_warehouse_sk AND later.i_item_sk = now.i_item_sk
WHERE now.d_moy = {month} AND later.d_moy = {month} + 1 AND now.variation > 1.5 AND later.variation > 1
ORDER BY now.w_warehouse_sk, now.i_item_sk;
