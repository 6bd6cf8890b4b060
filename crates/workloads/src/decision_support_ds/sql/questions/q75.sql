-- Kinds of goods of a category of which all channels together sold less than nine tenths of the pieces of the year before. Returned
-- pieces do not count. Lines that are alike count once.
-- statement: q75
SELECT {year} - 1, {year}, i_brand_id, i_class_id, i_category_id, i_manufact_id, pieces_before, pieces,
    pieces - pieces_before, amount - amount_before
FROM (
    SELECT i_brand_id, i_class_id, i_category_id, i_manufact_id,
        SUM(CASE WHEN d_year = {year} THEN pieces END) AS pieces,
        SUM(CASE WHEN d_year = {year} THEN amount END) AS amount,
        SUM(CASE WHEN d_year = {year} - 1 THEN pieces END) AS pieces_before,
        SUM(CASE WHEN d_year = {year} - 1 THEN amount END) AS amount_before
    FROM (
        SELECT d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
            cs_quantity - COALESCE(cr_return_quantity, 0) AS pieces,
            cs_ext_sales_price - COALESCE(cr_return_amount, 0) AS amount
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        JOIN item ON i_item_sk = cs_item_sk
        LEFT JOIN catalog_returns ON cr_item_sk = cs_item_sk AND cr_order_number = cs_order_number
        WHERE i_category = {category} AND d_year IN ({year} - 1, {year})
        UNION
        SELECT d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
            ss_quantity - COALESCE(sr_return_quantity, 0),
            ss_ext_sales_price - COALESCE(sr_return_amt, 0)
        FROM date_dim
        JOIN store_sales ON ss_sold_date_sk = d_date_sk
        JOIN item ON i_item_sk = ss_item_sk
        LEFT JOIN store_returns ON sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
        WHERE i_category = {category} AND d_year IN ({year} - 1, {year})
        UNION
        SELECT d_year, i_brand_id, i_class_id, i_category_id, i_manufact_id,
            ws_quantity - COALESCE(wr_return_quantity, 0),
            ws_ext_sales_price - COALESCE(wr_return_amt, 0)
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        JOIN item ON i_item_sk = ws_item_sk
        LEFT JOIN web_returns ON wr_item_sk = ws_item_sk AND wr_order_number = ws_order_number
        WHERE i_category = {category} AND d_year IN ({year} - 1, {year})) sales
    WHERE i_brand_id IS NOT NULL AND i_class_id IS NOT NULL AND i_category_id IS NOT NULL AND i_manufact_id IS NOT NULL
    GROUP BY i_brand_id, i_class_id, i_category_id, i_manufact_id) years
WHERE pieces_before <> 0 AND 10 * pieces < 9 * pieces_before
ORDER BY pieces - pieces_before, amount - amount_before IS NULL, amount - amount_before, i_brand_id,
    i_class_id, i_category_id, i_manufact_id
LIMIT 100;
