-- Goods of each channel with the highest shares of expensive returns, by count and by money.
-- statement: q49
SELECT channel, item, share_of_count, place_by_count, place_by_amount
FROM (
    SELECT channel, item, 1.0000 * returned_count / sold_count AS share_of_count,
        RANK() OVER (PARTITION BY channel ORDER BY 1.0000 * returned_count / sold_count) AS place_by_count,
        RANK() OVER (PARTITION BY channel ORDER BY 1.0000 * returned_amount / sold_amount) AS place_by_amount
    FROM (
        SELECT 'web' AS channel, ws_item_sk AS item, SUM(COALESCE(wr_return_quantity, 0)) AS returned_count,
            SUM(COALESCE(ws_quantity, 0)) AS sold_count, SUM(COALESCE(wr_return_amt, 0)) AS returned_amount,
            SUM(COALESCE(ws_net_paid, 0)) AS sold_amount
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        JOIN web_returns ON wr_item_sk = ws_item_sk AND wr_order_number = ws_order_number
        WHERE wr_return_amt > 10000 * {one} AND ws_net_profit > 1 * {one} AND ws_net_paid > 0 AND ws_quantity > 0
            AND d_year = {year} AND d_moy = {month}
        GROUP BY ws_item_sk
        UNION ALL
        SELECT 'catalog' AS channel, cs_item_sk AS item, SUM(COALESCE(cr_return_quantity, 0)) AS returned_count,
            SUM(COALESCE(cs_quantity, 0)) AS sold_count, SUM(COALESCE(cr_return_amount, 0)) AS returned_amount,
            SUM(COALESCE(cs_net_paid, 0)) AS sold_amount
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        JOIN catalog_returns ON cr_item_sk = cs_item_sk AND cr_order_number = cs_order_number
        WHERE cr_return_amount > 10000 * {one} AND cs_net_profit > 1 * {one} AND cs_net_paid > 0 AND cs_quantity > 0
            AND d_year = {year} AND d_moy = {month}
        GROUP BY cs_item_sk
        UNION ALL
        SELECT 'store' AS channel, ss_item_sk AS item, SUM(COALESCE(sr_return_quantity, 0)) AS returned_count,
            SUM(COALESCE(ss_quantity, 0)) AS sold_count, SUM(COALESCE(sr_return_amt, 0)) AS returned_amount,
            SUM(COALESCE(ss_net_paid, 0)) AS sold_amount
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        JOIN store_returns ON sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
        WHERE sr_return_amt > 10000 * {one} AND ss_net_profit > 1 * {one} AND ss_net_paid > 0 AND ss_quantity > 0
            AND d_year = {year} AND d_moy = {month}
        GROUP BY ss_item_sk) sold) ranked
WHERE place_by_count <= 10 OR place_by_amount <= 10
ORDER BY channel, place_by_count, place_by_amount, item
LIMIT 100;
