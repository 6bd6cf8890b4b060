-- Sales, returns and profit of thirty days with expensive items that are not promoted on television, for each store, catalog page
-- and web site, each channel and all of them.
-- statement: q80
SELECT channel, place, sales, returned, profit
FROM (
    SELECT depth, CASE WHEN depth < 2 THEN channel END AS channel, CASE WHEN depth < 1 THEN place END AS place,
        SUM(sales) AS sales, SUM(returned) AS returned, SUM(profit) AS profit
    FROM (
        SELECT 'store channel' AS channel, CONCAT('store', s_store_id) AS place, SUM(ss_ext_sales_price) AS sales,
            SUM(COALESCE(sr_return_amt, 0)) AS returned, SUM(ss_net_profit - COALESCE(sr_net_loss, 0)) AS profit
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        JOIN store ON s_store_sk = ss_store_sk
        JOIN item ON i_item_sk = ss_item_sk
        JOIN promotion ON p_promo_sk = ss_promo_sk
        LEFT JOIN store_returns ON sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
        WHERE d_date BETWEEN {first} AND {last} AND i_current_price > 50 * {one} AND p_channel_tv = 'N'
        GROUP BY s_store_id
        UNION ALL
        SELECT 'catalog channel', CONCAT('catalog_page', cp_catalog_page_id), SUM(cs_ext_sales_price),
            SUM(COALESCE(cr_return_amount, 0)), SUM(cs_net_profit - COALESCE(cr_net_loss, 0))
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        JOIN catalog_page ON cp_catalog_page_sk = cs_catalog_page_sk
        JOIN item ON i_item_sk = cs_item_sk
        JOIN promotion ON p_promo_sk = cs_promo_sk
        LEFT JOIN catalog_returns ON cr_item_sk = cs_item_sk AND cr_order_number = cs_order_number
        WHERE d_date BETWEEN {first} AND {last} AND i_current_price > 50 * {one} AND p_channel_tv = 'N'
        GROUP BY cp_catalog_page_id
        UNION ALL
        SELECT 'web channel', CONCAT('web_site', web_site_id), SUM(ws_ext_sales_price),
            SUM(COALESCE(wr_return_amt, 0)), SUM(ws_net_profit - COALESCE(wr_net_loss, 0))
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        JOIN web_site ON web_site_sk = ws_web_site_sk
        JOIN item ON i_item_sk = ws_item_sk
        JOIN promotion ON p_promo_sk = ws_promo_sk
        LEFT JOIN web_returns ON wr_item_sk = ws_item_sk AND wr_order_number = ws_order_number
        WHERE d_date BETWEEN {first} AND {last} AND i_current_price > 50 * {one} AND p_channel_tv = 'N'
        GROUP BY web_site_id) places
    CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2) depths
    GROUP BY depth, CASE WHEN depth < 2 THEN channel END, CASE WHEN depth < 1 THEN place END) rolled_up
ORDER BY channel IS NOT NULL, channel, place IS NOT NULL, place, depth DESC
LIMIT 100;
