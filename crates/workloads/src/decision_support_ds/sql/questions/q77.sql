-- Sales, returns and profit of thirty days, for each store, call center and web page, each channel and all of them. Every call
-- center gets the returns of all of them.
-- statement: q77
SELECT channel, place, sales, returned, profit
FROM (
    SELECT depth, CASE WHEN depth < 2 THEN channel END AS channel, CASE WHEN depth < 1 THEN place END AS place,
        SUM(sales) AS sales, SUM(returned) AS returned, SUM(profit) AS profit
    FROM (
        SELECT 'store channel' AS channel, store_key AS place, sales, COALESCE(returned, 0) AS returned,
            profit - COALESCE(loss, 0) AS profit
        FROM (
            SELECT ss_store_sk AS store_key, SUM(ss_ext_sales_price) AS sales, SUM(ss_net_profit) AS profit
            FROM date_dim
            JOIN store_sales ON ss_sold_date_sk = d_date_sk
            JOIN store ON s_store_sk = ss_store_sk
            WHERE d_date BETWEEN {first} AND {last}
            GROUP BY ss_store_sk) sold
        LEFT JOIN (
            SELECT sr_store_sk AS returned_key, SUM(sr_return_amt) AS returned, SUM(sr_net_loss) AS loss
            FROM date_dim
            JOIN store_returns ON sr_returned_date_sk = d_date_sk
            JOIN store ON s_store_sk = sr_store_sk
            WHERE d_date BETWEEN {first} AND {last}
            GROUP BY sr_store_sk) back ON returned_key = store_key
        UNION ALL
        SELECT 'catalog channel', center_key, sales, returned, profit - loss
        FROM (
            SELECT cs_call_center_sk AS center_key, SUM(cs_ext_sales_price) AS sales, SUM(cs_net_profit) AS profit
            FROM date_dim
            JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
            WHERE d_date BETWEEN {first} AND {last}
            GROUP BY cs_call_center_sk) sold
        CROSS JOIN (
            SELECT SUM(cr_return_amount) AS returned, SUM(cr_net_loss) AS loss
            FROM date_dim
            JOIN catalog_returns ON cr_returned_date_sk = d_date_sk
            WHERE d_date BETWEEN {first} AND {last}
            GROUP BY cr_call_center_sk) back
        UNION ALL
        SELECT 'web channel', page_key, sales, COALESCE(returned, 0), profit - COALESCE(loss, 0)
        FROM (
            SELECT ws_web_page_sk AS page_key, SUM(ws_ext_sales_price) AS sales, SUM(ws_net_profit) AS profit
            FROM date_dim
            JOIN web_sales ON ws_sold_date_sk = d_date_sk
            JOIN web_page ON wp_web_page_sk = ws_web_page_sk
            WHERE d_date BETWEEN {first} AND {last}
            GROUP BY ws_web_page_sk) sold
        LEFT JOIN (
            SELECT wr_web_page_sk AS returned_key, SUM(wr_return_amt) AS returned, SUM(wr_net_loss) AS loss
            FROM date_dim
            JOIN web_returns ON wr_returned_date_sk = d_date_sk
            JOIN web_page ON wp_web_page_sk = wr_web_page_sk
            WHERE d_date BETWEEN {first} AND {last}
            GROUP BY wr_web_page_sk) back ON returned_key = page_key) places
    CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2) depths
    GROUP BY depth, CASE WHEN depth < 2 THEN channel END, CASE WHEN depth < 1 THEN place END) rolled_up
ORDER BY channel IS NOT NULL, channel, place IS NOT NULL, place, depth DESC
LIMIT 100;
