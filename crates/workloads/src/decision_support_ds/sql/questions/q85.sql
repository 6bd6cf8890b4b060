-- Why things that were bought on the web came back, of certain people and prices and from certain states and profits.
-- statement: q85
SELECT reason, AVG(ws_quantity) AS pieces, AVG(wr_refunded_cash) AS cash, AVG(wr_fee) AS fee
FROM (
    SELECT SUBSTR(r_reason_desc, 1, 20) AS reason, ws_quantity, wr_refunded_cash, wr_fee
    FROM date_dim
    JOIN web_sales ON ws_sold_date_sk = d_date_sk
    JOIN web_returns ON wr_item_sk = ws_item_sk AND wr_order_number = ws_order_number
    JOIN web_page ON wp_web_page_sk = ws_web_page_sk
    JOIN customer_demographics refunded ON refunded.cd_demo_sk = wr_refunded_cdemo_sk
    JOIN customer_demographics returning_one ON returning_one.cd_demo_sk = wr_returning_cdemo_sk
        AND returning_one.cd_marital_status = refunded.cd_marital_status
        AND returning_one.cd_education_status = refunded.cd_education_status
    JOIN customer_address ON ca_address_sk = wr_refunded_addr_sk
    JOIN reason ON r_reason_sk = wr_reason_sk
    WHERE d_year = {year} AND ca_country = 'United States' AND (
        (refunded.cd_marital_status = {marital_1} AND refunded.cd_education_status = {education_1}
            AND ws_sales_price BETWEEN 100 * {one} AND 150 * {one})
        OR (refunded.cd_marital_status = {marital_2} AND refunded.cd_education_status = {education_2}
            AND ws_sales_price BETWEEN 50 * {one} AND 100 * {one})
        OR (refunded.cd_marital_status = {marital_3} AND refunded.cd_education_status = {education_3}
            AND ws_sales_price BETWEEN 150 * {one} AND 200 * {one})) AND (
        (ca_state IN ({states_1}) AND ws_net_profit BETWEEN 100 * {one} AND 200 * {one})
        OR (ca_state IN ({states_2}) AND ws_net_profit BETWEEN 150 * {one} AND 300 * {one})
        OR (ca_state IN ({states_3}) AND ws_net_profit BETWEEN 50 * {one} AND 250 * {one}))) returns
GROUP BY reason
ORDER BY reason IS NOT NULL, reason, pieces, cash, fee
LIMIT 100;
