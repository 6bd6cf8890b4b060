-- Orders on the web of a company that were shipped to a state from several warehouses and not returned.
-- statement: q94
SELECT COUNT(DISTINCT ws_order_number), SUM(ws_ext_ship_cost), SUM(ws_net_profit)
FROM web_sales sale
JOIN date_dim ON d_date_sk = ws_ship_date_sk
JOIN customer_address ON ca_address_sk = ws_ship_addr_sk
JOIN web_site ON web_site_sk = ws_web_site_sk
WHERE d_date BETWEEN {first} AND {last} AND ca_state = {state} AND web_company_name = 'pri'
    AND EXISTS (
        SELECT 1
        FROM web_sales other
        WHERE other.ws_order_number = sale.ws_order_number AND other.ws_warehouse_sk <> sale.ws_warehouse_sk)
    AND NOT EXISTS (SELECT 1 FROM web_returns WHERE wr_order_number = sale.ws_order_number)
LIMIT 100;
