-- What kinds of people in certain states bought in stores in three months, and nothing on the web or from the catalog.
-- statement: q69
SELECT cd_gender, cd_marital_status, cd_education_status, COUNT(*), cd_purchase_estimate, COUNT(*), cd_credit_rating, COUNT(*)
FROM customer
JOIN customer_address ON ca_address_sk = c_current_addr_sk
JOIN customer_demographics ON cd_demo_sk = c_current_cdemo_sk
WHERE ca_state IN ({states})
    AND EXISTS (
        SELECT 1
        FROM store_sales
        JOIN date_dim ON d_date_sk = ss_sold_date_sk
        WHERE ss_customer_sk = c_customer_sk AND d_year = {year} AND d_moy BETWEEN {month} AND {month} + 2)
    AND NOT EXISTS (
        SELECT 1
        FROM web_sales
        JOIN date_dim ON d_date_sk = ws_sold_date_sk
        WHERE ws_bill_customer_sk = c_customer_sk AND d_year = {year} AND d_moy BETWEEN {month} AND {month} + 2)
    AND NOT EXISTS (
        SELECT 1
        FROM catalog_sales
        JOIN date_dim ON d_date_sk = cs_sold_date_sk
        WHERE cs_ship_customer_sk = c_customer_sk AND d_year = {year} AND d_moy BETWEEN {month} AND {month} + 2)
GROUP BY cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating
ORDER BY cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating
LIMIT 100;
