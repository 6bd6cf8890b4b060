-- What returns of a month by certain people cost each call center.
-- statement: q91
SELECT cc_call_center_id, cc_name, cc_manager, SUM(cr_net_loss)
FROM date_dim
JOIN catalog_returns ON cr_returned_date_sk = d_date_sk
JOIN call_center ON cc_call_center_sk = cr_call_center_sk
JOIN customer ON c_customer_sk = cr_returning_customer_sk
JOIN customer_demographics ON cd_demo_sk = c_current_cdemo_sk
JOIN household_demographics ON hd_demo_sk = c_current_hdemo_sk
JOIN customer_address ON ca_address_sk = c_current_addr_sk
WHERE d_year = {year} AND d_moy = {month} AND ca_gmt_offset = {offset} AND hd_buy_potential LIKE {potential}
    AND ((cd_marital_status = 'M' AND cd_education_status = 'Unknown')
        OR (cd_marital_status = 'W' AND cd_education_status = 'Advanced Degree'))
GROUP BY cc_call_center_id, cc_name, cc_manager, cd_marital_status, cd_education_status
ORDER BY SUM(cr_net_loss) IS NULL, SUM(cr_net_loss) DESC;
