-- Customers who brought back goods of a colour to a store near them, but were born elsewhere, and paid more than a twentieth of what is
-- usual. The second part asks for another colour.
-- statement: q24a
SELECT c_last_name, c_first_name, s_store_name, SUM(paid)
FROM (
    SELECT c_last_name, c_first_name, s_store_name, i_color, paid, AVG(paid) OVER () AS usual
    FROM (
        SELECT c_last_name, c_first_name, s_store_name, i_color,
            SUM(CASE {measure} WHEN 1 THEN ss_net_paid WHEN 2 THEN ss_net_paid_inc_tax WHEN 3 THEN ss_net_profit
                WHEN 4 THEN ss_sales_price ELSE ss_ext_sales_price END) AS paid
        FROM store
        JOIN store_sales ON ss_store_sk = s_store_sk
        JOIN store_returns ON sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
        JOIN item ON i_item_sk = ss_item_sk
        JOIN customer ON c_customer_sk = ss_customer_sk
        JOIN customer_address ON ca_address_sk = c_current_addr_sk AND ca_zip = s_zip
        WHERE s_market_id = {market} AND c_birth_country <> UPPER(ca_country)
        GROUP BY c_last_name, c_first_name, s_store_name, ca_state, s_state, i_color, i_current_price, i_manager_id, i_units,
            i_size) sold) compared
WHERE i_color = {colour}
GROUP BY c_last_name, c_first_name, s_store_name
HAVING 20 * SUM(paid) > MAX(usual)
ORDER BY c_last_name IS NOT NULL, c_last_name, c_first_name IS NOT NULL, c_first_name, s_store_name;

-- statement: q24b
SELECT c_last_name, c_first_name, s_store_name, SUM(paid)
FROM (
    SELECT c_last_name, c_first_name, s_store_name, i_color, paid, AVG(paid) OVER () AS usual
    FROM (
        SELECT c_last_name, c_first_name, s_store_name, i_color,
            SUM(CASE {measure} WHEN 1 THEN ss_net_paid WHEN 2 THEN ss_net_paid_inc_tax WHEN 3 THEN ss_net_profit
                WHEN 4 THEN ss_sales_price ELSE ss_ext_sales_price END) AS paid
        FROM store
        JOIN store_sales ON ss_store_sk = s_store_sk
        JOIN store_returns ON sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
        JOIN item ON i_item_sk = ss_item_sk
        JOIN customer ON c_customer_sk = ss_customer_sk
        JOIN customer_address ON ca_address_sk = c_current_addr_sk AND ca_zip = s_zip
        WHERE s_market_id = {market} AND c_birth_country <> UPPER(ca_country)
        GROUP BY c_last_name, c_first_name, s_store_name, ca_state, s_state, i_color, i_current_price, i_manager_id, i_units,
            i_size) sold) compared
WHERE i_color = {other_colour}
GROUP BY c_last_name, c_first_name, s_store_name
HAVING 20 * SUM(paid) > MAX(usual)
ORDER BY c_last_name IS NOT NULL, c_last_name, c_first_name IS NOT NULL, c_first_name, s_store_name;
