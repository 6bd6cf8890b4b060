-- Average quantities and prices of goods that people of one kind bought in promotions that were not e-mailed or had no event.
-- statement: q07
SELECT i_item_id, AVG(ss_quantity), AVG(ss_list_price), AVG(ss_coupon_amt), AVG(ss_sales_price)
FROM store_sales
JOIN customer_demographics ON cd_demo_sk = ss_cdemo_sk
JOIN date_dim ON d_date_sk = ss_sold_date_sk
JOIN item ON i_item_sk = ss_item_sk
JOIN promotion ON p_promo_sk = ss_promo_sk
WHERE cd_gender = {gender} AND cd_marital_status = {marital} AND cd_education_status = {education}
    AND (p_channel_email = 'N' OR p_channel_event = 'N') AND d_year = {year}
GROUP BY i_item_id
ORDER BY i_item_id
LIMIT 100;
