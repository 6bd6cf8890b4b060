-- Average quantities and prices of goods that people of one kind bought from the catalog in promotions without e-mail or event.
-- statement: q26
SELECT i_item_id, AVG(cs_quantity), AVG(cs_list_price), AVG(cs_coupon_amt), AVG(cs_sales_price)
FROM catalog_sales
JOIN customer_demographics ON cd_demo_sk = cs_bill_cdemo_sk
JOIN date_dim ON d_date_sk = cs_sold_date_sk
JOIN item ON i_item_sk = cs_item_sk
JOIN promotion ON p_promo_sk = cs_promo_sk
WHERE cd_gender = {gender} AND cd_marital_status = {marital} AND cd_education_status = {education}
    AND (p_channel_email = 'N' OR p_channel_event = 'N') AND d_year = {year}
GROUP BY i_item_id
ORDER BY i_item_id
LIMIT 100;
