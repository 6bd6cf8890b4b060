-- How much stores sold in a year to three kinds of people at three levels of price, and to three groups of states at three of profit.
-- statement: q48
SELECT SUM(ss_quantity)
FROM date_dim
JOIN store_sales ON ss_sold_date_sk = d_date_sk
JOIN store ON s_store_sk = ss_store_sk
JOIN customer_demographics ON cd_demo_sk = ss_cdemo_sk
JOIN customer_address ON ca_address_sk = ss_addr_sk
WHERE d_year = {year} AND ca_country = 'United States'
    AND ss_sales_price BETWEEN 50 * {one} AND 200 * {one} AND ss_net_profit BETWEEN 0 AND 25000 * {one}
    AND ((cd_marital_status = {marital_1} AND cd_education_status = {education_1}
            AND ss_sales_price BETWEEN 100 * {one} AND 150 * {one})
        OR (cd_marital_status = {marital_2} AND cd_education_status = {education_2}
            AND ss_sales_price BETWEEN 50 * {one} AND 100 * {one})
        OR (cd_marital_status = {marital_3} AND cd_education_status = {education_3}
            AND ss_sales_price BETWEEN 150 * {one} AND 200 * {one}))
    AND ((ca_state IN ({states_1}) AND ss_net_profit BETWEEN 0 AND 2000 * {one})
        OR (ca_state IN ({states_2}) AND ss_net_profit BETWEEN 150 * {one} AND 3000 * {one})
        OR (ca_state IN ({states_3}) AND ss_net_profit BETWEEN 50 * {one} AND 25000 * {one}));
