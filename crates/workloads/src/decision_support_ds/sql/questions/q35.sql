-- What kinds of people bought both in stores and elsewhere in the first three quarters of a year, by state.
-- statement: q35
SELECT ca_state, cd_gender, cd_marital_status,
    cd_dep_count, COUNT(*),
    CASE {kind_1} WHEN 1 THEN SUM(cd_dep_count) WHEN 2 THEN MIN(cd_dep_count) WHEN 3 THEN MAX(cd_dep_count)
        WHEN 4 THEN AVG(cd_dep_count) ELSE STDDEV_SAMP(cd_dep_count) END,
    CASE {kind_2} WHEN 1 THEN SUM(cd_dep_count) WHEN 2 THEN MIN(cd_dep_count) WHEN 3 THEN MAX(cd_dep_count)
        WHEN 4 THEN AVG(cd_dep_count) ELSE STDDEV_SAMP(cd_dep_count) END,
    CASE {kind_3} WHEN 1 THEN SUM(cd_dep_count) WHEN 2 THEN MIN(cd_dep_count) WHEN 3 THEN MAX(cd_dep_count)
        WHEN 4 THEN AVG(cd_dep_count) ELSE STDDEV_SAMP(cd_dep_count) END,
    cd_dep_employed_count, COUNT(*),
    CASE {kind_1} WHEN 1 THEN SUM(cd_dep_employed_count) WHEN 2 THEN MIN(cd_dep_employed_count) WHEN 3 THEN MAX(cd_dep_employed_count)
        WHEN 4 THEN AVG(cd_dep_employed_count) ELSE STDDEV_SAMP(cd_dep_employed_count) END,
    CASE {kind_2} WHEN 1 THEN SUM(cd_dep_employed_count) WHEN 2 THEN MIN(cd_dep_employed_count) WHEN 3 THEN MAX(cd_dep_employed_count)
        WHEN 4 THEN AVG(cd_dep_employed_count) ELSE STDDEV_SAMP(cd_dep_employed_count) END,
    CASE {kind_3} WHEN 1 THEN SUM(cd_dep_employed_count) WHEN 2 THEN MIN(cd_dep_employed_count) WHEN 3 THEN MAX(cd_dep_employed_count)
        WHEN 4 THEN AVG(cd_dep_employed_count) ELSE STDDEV_SAMP(cd_dep_employed_count) END,
    cd_dep_college_count, COUNT(*),
    CASE {kind_1} WHEN 1 THEN SUM(cd_dep_college_count) WHEN 2 THEN MIN(cd_dep_college_count) WHEN 3 THEN MAX(cd_dep_college_count)
        WHEN 4 THEN AVG(cd_dep_college_count) ELSE STDDEV_SAMP(cd_dep_college_count) END,
    CASE {kind_2} WHEN 1 THEN SUM(cd_dep_college_count) WHEN 2 THEN MIN(cd_dep_college_count) WHEN 3 THEN MAX(cd_dep_college_count)
        WHEN 4 THEN AVG(cd_dep_college_count) ELSE STDDEV_SAMP(cd_dep_college_count) END,
    CASE {kind_3} WHEN 1 THEN SUM(cd_dep_college_count) WHEN 2 THEN MIN(cd_dep_college_count) WHEN 3 THEN MAX(cd_dep_college_count)
        WHEN 4 THEN AVG(cd_dep_college_count) ELSE STDDEV_SAMP(cd_dep_college_count) END
FROM customer
JOIN customer_address ON ca_address_sk = c_current_addr_sk
JOIN customer_demographics ON cd_demo_sk = c_current_cdemo_sk
WHERE c_customer_sk IN (
        SELECT ss_customer_sk
        FROM store_sales
        JOIN date_dim ON d_date_sk = ss_sold_date_sk
        WHERE d_year = {year} AND d_qoy < 4)
    AND c_customer_sk IN (
        SELECT ws_bill_customer_sk
        FROM web_sales
        JOIN date_dim ON d_date_sk = ws_sold_date_sk
        WHERE d_year = {year} AND d_qoy < 4
        UNION ALL
        SELECT cs_ship_customer_sk
        FROM catalog_sales
        JOIN date_dim ON d_date_sk = cs_sold_date_sk
        WHERE d_year = {year} AND d_qoy < 4)
GROUP BY ca_state, cd_gender, cd_marital_status, cd_dep_count, cd_dep_employed_count, cd_dep_college_count
ORDER BY ca_state IS NOT NULL, ca_state, cd_gender, cd_marital_status, cd_dep_count, cd_dep_employed_count, cd_dep_college_count
LIMIT 100;
