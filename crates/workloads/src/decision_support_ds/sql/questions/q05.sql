-- Sales, returns and profit of two weeks, for each store, catalog page and web site, each channel and all of them.
-- statement: q05
WITH sold AS (
    SELECT 'store channel' AS channel, CONCAT('store', s_store_id) AS place, SUM(sale) AS sales, SUM(back) AS returned,
        SUM(profit) - SUM(loss) AS profit
    FROM (
        SELECT ss_store_sk AS place_key, ss_ext_sales_price AS sale, ss_net_profit AS profit, 0 AS back, 0 AS loss
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        WHERE d_date BETWEEN {first} AND {last}
        UNION ALL
        SELECT sr_store_sk, 0, 0, sr_return_amt, sr_net_loss
        FROM date_dim
        JOIN store_returns ON sr_returned_date_sk = d_date_sk
        WHERE d_date BETWEEN {first} AND {last}) moved
    JOIN store ON s_store_sk = place_key
    GROUP BY s_store_id
    UNION ALL
    SELECT 'catalog channel', CONCAT('catalog_page', cp_catalog_page_id), SUM(sale), SUM(back),
        SUM(profit) - SUM(loss)
    FROM (
        SELECT cs_catalog_page_sk AS place_key, cs_ext_sales_price AS sale, cs_net_profit AS profit, 0 AS back, 0 AS loss
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        WHERE d_date BETWEEN {first} AND {last}
        UNION ALL
        SELECT cr_catalog_page_sk, 0, 0, cr_return_amount, cr_net_loss
        FROM date_dim
        JOIN catalog_returns ON cr_returned_date_sk = d_date_sk
        WHERE d_date BETWEEN {first} AND {last}) moved
    JOIN catalog_page ON cp_catalog_page_sk = place_key
    GROUP BY cp_catalog_page_id
    UNION ALL
    SELECT 'web channel', CONCAT('web_site', web_site_id), SUM(sale), SUM(back),
        SUM(profit) - SUM(loss)
    FROM (
        SELECT ws_web_site_sk AS place_key, ws_ext_sales_price AS sale, ws_net_profit AS profit, 0 AS back, 0 AS loss
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        WHERE d_date BETWEEN {first} AND {last}
        UNION ALL
        SELECT ws_web_site_sk, 0, 0, wr_return_amt, wr_net_loss
        FROM date_dim
        JOIN web_returns ON wr_returned_date_sk = d_date_sk
        LEFT JOIN web_sales ON ws_item_sk = wr_item_sk AND ws_order_number = wr_order_number
        WHERE d_date BETWEEN {first} AND {last}) moved
    JOIN web_site ON web_site_sk = place_key
    GROUP BY web_site_id)
SELECT channel_shown, place_shown, sales, returned, profit
FROM (
    SELECT depth, CASE WHEN depth < 2 THEN channel END AS channel_shown, CASE WHEN depth < 1 THEN place END AS place_shown,
        SUM(sales) AS sales, SUM(returned) AS returned, SUM(profit) AS profit
    FROM sold
    CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2) depths
    GROUP BY depth, CASE WHEN depth < 2 THEN channel END, CASE WHEN depth < 1 THEN place END) rolled_up
ORDER BY channel_shown IS NOT NULL, channel_shown, place_shown IS NOT NULL, place_shown
LIMIT 100;
