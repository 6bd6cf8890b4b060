-- How many of which goods stores sold in a month, got back within four, and the same customers bought from the catalog within three years.
-- statement: q29
SELECT {in_order}i_item_id, i_item_desc, s_store_id, s_store_name,
    CASE {kind} WHEN 1 THEN SUM(ss_quantity) WHEN 2 THEN MIN(ss_quantity) WHEN 3 THEN MAX(ss_quantity)
        WHEN 4 THEN AVG(ss_quantity) ELSE STDDEV_SAMP(ss_quantity) END,
    CASE {kind} WHEN 1 THEN SUM(sr_return_quantity) WHEN 2 THEN MIN(sr_return_quantity) WHEN 3 THEN MAX(sr_return_quantity)
        WHEN 4 THEN AVG(sr_return_quantity) ELSE STDDEV_SAMP(sr_return_quantity) END,
    CASE {kind} WHEN 1 THEN SUM(cs_quantity) WHEN 2 THEN MIN(cs_quantity) WHEN 3 THEN MAX(cs_quantity)
        WHEN 4 THEN AVG(cs_quantity) ELSE STDDEV_SAMP(cs_quantity) END
FROM date_dim sale_date
JOIN store_sales ON ss_sold_date_sk = sale_date.d_date_sk
JOIN store_returns ON sr_customer_sk = ss_customer_sk AND sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
JOIN date_dim return_date ON return_date.d_date_sk = sr_returned_date_sk
JOIN catalog_sales ON cs_bill_customer_sk = sr_customer_sk AND cs_item_sk = sr_item_sk
JOIN date_dim catalog_date ON catalog_date.d_date_sk = cs_sold_date_sk
JOIN store ON s_store_sk = ss_store_sk
JOIN item ON i_item_sk = ss_item_sk
WHERE sale_date.d_moy = {month} AND sale_date.d_year = {year}
    AND return_date.d_moy BETWEEN {month} AND {month} + 3 AND return_date.d_year = {year}
    AND catalog_date.d_year IN ({year}, {year} + 1, {year} + 2)
GROUP BY i_item_id, i_item_desc, s_store_id, s_store_name
ORDER BY i_item_id, i_item_desc IS NOT NULL, i_item_desc, s_store_id, s_store_name
LIMIT 100;
