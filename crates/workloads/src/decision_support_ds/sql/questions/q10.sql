-- What kinds of people of some counties bought both in stores and elsewhere within four months.
-- statement: q10
SELECT cd_gender, cd_marital_status, cd_education_status, COUNT(*), cd_purchase_estimate, COUNT(*), cd_credit_rating, COUNT(*),
    cd_dep_count, COUNT(*), cd_dep_employed_count, COUNT(*), cd_dep_college_count, COUNT(*)
FROM customer_address
JOIN customer ON c_current_addr_sk = ca_address_sk
JOIN customer_demographics ON cd_demo_sk = c_current_cdemo_sk
WHERE ca_county IN ({counties})
    AND c_customer_sk IN (
        SELECT ss_customer_sk
        FROM store_sales
        JOIN date_dim ON d_date_sk = ss_sold_date_sk
        WHERE d_year = {year} AND d_moy BETWEEN {month} AND {month} + 3)
    AND c_customer_sk IN (
        SELECT ws_bill_customer_sk
        FROM web_sales
        JOIN date_dim ON d_date_sk = ws_sold_date_sk
        WHERE d_year = {year} AND d_moy BETWEEN {month} AND {month} + 3
        UNION ALL
        SELECT cs_ship_customer_sk
        FROM catalog_sales
        JOIN date_dim ON d_date_sk = cs_sold_date_sk
        WHERE d_year = {year} AND d_moy BETWEEN {month} AND {month} + 3)
GROUP BY cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating, cd_dep_count,
    cd_dep_employed_count, cd_dep_college_count
ORDER BY cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating, cd_dep_count,
    cd_dep_employed_count, cd_dep_college_count
LIMIT 100;
