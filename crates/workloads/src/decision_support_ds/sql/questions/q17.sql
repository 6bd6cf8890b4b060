-- How many of which goods customers bought in a store, brought back, and bought again from the catalog, by state.
-- statement: q17
SELECT {in_order}i_item_id, i_item_desc, s_state,
    COUNT(ss_quantity), AVG(ss_quantity), STDDEV_SAMP(ss_quantity), STDDEV_SAMP(ss_quantity) / AVG(ss_quantity),
    COUNT(sr_return_quantity), AVG(sr_return_quantity), STDDEV_SAMP(sr_return_quantity),
    STDDEV_SAMP(sr_return_quantity) / AVG(sr_return_quantity),
    COUNT(cs_quantity), AVG(cs_quantity), STDDEV_SAMP(cs_quantity), STDDEV_SAMP(cs_quantity) / AVG(cs_quantity)
FROM date_dim sale_date
JOIN store_sales ON ss_sold_date_sk = sale_date.d_date_sk
JOIN store_returns ON sr_customer_sk = ss_customer_sk AND sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
JOIN date_dim return_date ON return_date.d_date_sk = sr_returned_date_sk
JOIN catalog_sales ON cs_bill_customer_sk = sr_customer_sk AND cs_item_sk = sr_item_sk
JOIN date_dim catalog_date ON catalog_date.d_date_sk = cs_sold_date_sk
JOIN store ON s_store_sk = ss_store_sk
JOIN item ON i_item_sk = ss_item_sk
WHERE sale_date.d_quarter_name = {first_quarter} AND return_date.d_quarter_name IN ({quarters})
    AND catalog_date.d_quarter_name IN ({quarters})
GROUP BY i_item_id, i_item_desc, s_state
ORDER BY i_item_id, i_item_desc IS NOT NULL, i_item_desc, s_state IS NOT NULL, s_state
LIMIT 100;
