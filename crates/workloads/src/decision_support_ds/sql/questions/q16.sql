-- Orders from the catalog that came from several warehouses and of which nothing came back.
-- statement: q16
SELECT COUNT(DISTINCT cs_order_number), SUM(cs_ext_ship_cost), SUM(cs_net_profit)
FROM catalog_sales
JOIN date_dim ON d_date_sk = cs_ship_date_sk
JOIN customer_address ON ca_address_sk = cs_ship_addr_sk
JOIN call_center ON cc_call_center_sk = cs_call_center_sk
WHERE d_date BETWEEN {first} AND {last} AND ca_state = {state} AND cc_county IN ({counties})
    AND EXISTS (
        SELECT 1
        FROM catalog_sales other
        WHERE other.cs_order_number = catalog_sales.cs_order_number AND other.cs_warehouse_sk <> catalog_sales.cs_warehouse_sk)
    AND NOT EXISTS (SELECT 1 FROM catalog_returns WHERE cr_order_number = catalog_sales.cs_order_number);
