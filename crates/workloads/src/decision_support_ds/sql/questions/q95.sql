-- Orders on the web of a company that were shipped to a state from several warehouses and returned.
-- statement: q95
SELECT COUNT(DISTINCT ws_order_number), SUM(ws_ext_ship_cost), SUM(ws_net_profit)
FROM (
    SELECT ws_order_number AS order_number
    FROM web_sales
    GROUP BY ws_order_number
    HAVING MIN(ws_warehouse_sk) <> MAX(ws_warehouse_sk)) several
JOIN web_sales ON ws_order_number = order_number
JOIN date_dim ON d_date_sk = ws_ship_date_sk
JOIN customer_address ON ca_address_sk = ws_ship_addr_sk
JOIN web_site ON web_site_sk = ws_web_site_sk
WHERE d_date BETWEEN {first} AND {last} AND ca_state = {state} AND web_company_name = 'pri'
    AND ws_order_number IN (SELECT wr_order_number FROM web_returns)
LIMIT 100;
