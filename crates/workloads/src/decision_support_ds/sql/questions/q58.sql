-- Items that brought about as much in a week in each of the three channels.
-- statement: q58
WITH of_stores AS (
    SELECT i_item_id AS item, SUM(ss_ext_sales_price) AS revenue
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = ss_item_sk
    WHERE d_week_seq = (SELECT d_week_seq FROM date_dim WHERE d_date = {day})
    GROUP BY i_item_id),
of_catalog AS (
    SELECT i_item_id AS item, SUM(cs_ext_sales_price) AS revenue
    FROM date_dim
    JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = cs_item_sk
    WHERE d_week_seq = (SELECT d_week_seq FROM date_dim WHERE d_date = {day})
    GROUP BY i_item_id),
of_web AS (
    SELECT i_item_id AS item, SUM(ws_ext_sales_price) AS revenue
    FROM date_dim
    JOIN web_sales ON ws_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = ws_item_sk
    WHERE d_week_seq = (SELECT d_week_seq FROM date_dim WHERE d_date = {day})
    GROUP BY i_item_id)
SELECT item, in_stores, 300.0 * in_stores / (in_stores + by_catalog + on_web),
    by_catalog, 300.0 * by_catalog / (in_stores + by_catalog + on_web),
    on_web, 300.0 * on_web / (in_stores + by_catalog + on_web), (in_stores + by_catalog + on_web) / 3.0
FROM (
    SELECT of_stores.item AS item, of_stores.revenue AS in_stores, of_catalog.revenue AS by_catalog, of_web.revenue AS on_web
    FROM of_stores
    JOIN of_catalog ON of_catalog.item = of_stores.item
    JOIN of_web ON of_web.item = of_stores.item) revenues
WHERE 10 * in_stores BETWEEN 9 * by_catalog AND 11 * by_catalog AND 10 * in_stores BETWEEN 9 * on_web AND 11 * on_web
    AND 10 * by_catalog BETWEEN 9 * in_stores AND 11 * in_stores AND 10 * by_catalog BETWEEN 9 * on_web AND 11 * on_web
    AND 10 * on_web BETWEEN 9 * in_stores AND 11 * in_stores AND 10 * on_web BETWEEN 9 * by_catalog AND 11 * by_catalog
    AND in_stores + by_catalog + on_web <> 0
ORDER BY item, in_stores
LIMIT 100;
