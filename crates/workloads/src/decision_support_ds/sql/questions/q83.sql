-- Items that came back in certain weeks in all three channels, and a third of each channel's percentage.
-- statement: q83
WITH to_stores AS (
    SELECT i_item_id AS item, SUM(sr_return_quantity) AS pieces
    FROM date_dim
    JOIN store_returns ON sr_returned_date_sk = d_date_sk
    JOIN item ON i_item_sk = sr_item_sk
    WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_date IN ({days}))
    GROUP BY i_item_id),
to_catalog AS (
    SELECT i_item_id AS item, SUM(cr_return_quantity) AS pieces
    FROM date_dim
    JOIN catalog_returns ON cr_returned_date_sk = d_date_sk
    JOIN item ON i_item_sk = cr_item_sk
    WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_date IN ({days}))
    GROUP BY i_item_id),
to_web AS (
    SELECT i_item_id AS item, SUM(wr_return_quantity) AS pieces
    FROM date_dim
    JOIN web_returns ON wr_returned_date_sk = d_date_sk
    JOIN item ON i_item_sk = wr_item_sk
    WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_date IN ({days}))
    GROUP BY i_item_id)
SELECT item, store, 100.0000 * store / NULLIF(store + catalog + web, 0) / 3, catalog,
    100.0000 * catalog / NULLIF(store + catalog + web, 0) / 3, web, 100.0000 * web / NULLIF(store + catalog + web, 0) / 3,
    (store + catalog + web) / 3.0
FROM (
    SELECT to_stores.item AS item, to_stores.pieces AS store, to_catalog.pieces AS catalog, to_web.pieces AS web
    FROM to_stores
    JOIN to_catalog ON to_catalog.item = to_stores.item
    JOIN to_web ON to_web.item = to_stores.item) pieces
ORDER BY item, store IS NOT NULL, store
LIMIT 100;
