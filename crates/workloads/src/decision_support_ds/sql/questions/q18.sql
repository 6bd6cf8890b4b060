-- Average purchases of one kind of people from the catalog: by item and county, state and country, and over all of them.
-- statement: q18
SELECT item, country, state, county, quantity, list_price, coupon, sales_price, profit, birth_year, dependents
FROM (
    SELECT depth, CASE WHEN depth < 4 THEN i_item_id END AS item, CASE WHEN depth < 3 THEN ca_country END AS country,
        CASE WHEN depth < 2 THEN ca_state END AS state, CASE WHEN depth < 1 THEN ca_county END AS county,
        AVG(cs_quantity) AS quantity, AVG(cs_list_price) AS list_price, AVG(cs_coupon_amt) AS coupon,
        AVG(cs_sales_price) AS sales_price, AVG(cs_net_profit) AS profit, AVG(c_birth_year) AS birth_year,
        AVG(buyer.cd_dep_count) AS dependents
    FROM date_dim
    JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
    JOIN customer_demographics buyer ON buyer.cd_demo_sk = cs_bill_cdemo_sk
    JOIN customer ON c_customer_sk = cs_bill_customer_sk
    JOIN customer_demographics now ON now.cd_demo_sk = c_current_cdemo_sk
    JOIN customer_address ON ca_address_sk = c_current_addr_sk
    JOIN item ON i_item_sk = cs_item_sk
    CROSS JOIN (SELECT 0 AS depth UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) depths
    WHERE d_year = {year} AND buyer.cd_gender = {gender} AND buyer.cd_education_status = {education}
        AND c_birth_month IN ({months}) AND ca_state IN ({states})
    GROUP BY depth, CASE WHEN depth < 4 THEN i_item_id END, CASE WHEN depth < 3 THEN ca_country END,
        CASE WHEN depth < 2 THEN ca_state END, CASE WHEN depth < 1 THEN ca_county END) rolled_up
ORDER BY country IS NOT NULL, country, state IS NOT NULL, state, county IS NOT NULL, county, item IS NOT NULL, item
LIMIT 100;
