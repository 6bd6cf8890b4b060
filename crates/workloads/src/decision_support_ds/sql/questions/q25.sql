-- What stores earned from goods in April, lost by their return within the year, and what the same customers then brought to the catalog.
-- statement: q25
SELECT {in_order}i_item_id, i_item_desc, s_store_id, s_store_name,
    CASE {kind} WHEN 1 THEN SUM(ss_net_profit) WHEN 2 THEN MIN(ss_net_profit) WHEN 3 THEN MAX(ss_net_profit)
        WHEN 4 THEN AVG(ss_net_profit) ELSE STDDEV_SAMP(ss_net_profit) END,
    CASE {kind} WHEN 1 THEN SUM(sr_net_loss) WHEN 2 THEN MIN(sr_net_loss) WHEN 3 THEN MAX(sr_net_loss)
        WHEN 4 THEN AVG(sr_net_loss) ELSE STDDEV_SAMP(sr_net_loss) END,
    CASE {kind} WHEN 1 THEN SUM(cs_net_profit) WHEN 2 THEN MIN(cs_net_profit) WHEN 3 THEN MAX(cs_net_profit)
        WHEN 4 THEN AVG(cs_net_profit) ELSE STDDEV_SAMP(cs_net_profit) END
FROM date_dim sale_date
JOIN store_sales ON ss_sold_date_sk = sale_date.d_date_sk
JOIN store_returns ON sr_customer_sk = ss_customer_sk AND sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
JOIN date_dim return_date ON return_date.d_date_sk = sr_returned_date_sk
JOIN catalog_sales ON cs_bill_customer_sk = sr_customer_sk AND cs_item_sk = sr_item_sk
JOIN date_dim catalog_date ON catalog_date.d_date_sk = cs_sold_date_sk
JOIN store ON s_store_sk = ss_store_sk
JOIN item ON i_item_sk = ss_item_sk
WHERE sale_date.d_moy = 4 AND sale_date.d_year = {year}
    AND return_date.d_moy BETWEEN 4 AND 10 AND return_date.d_year = {year}
    AND catalog_date.d_moy BETWEEN 4 AND 10 AND catalog_date.d_year = {year}
GROUP BY i_item_id, i_item_desc, s_store_id, s_store_name
ORDER BY i_item_id, i_item_desc IS NOT NULL, i_item_desc, s_store_id, s_store_name
LIMIT 100;
