-- What each warehouse sent with two carriers within eight hours of the day, in each month of a year: at prices, for each square
-- foot, and net of discounts.
-- statement: q66
SELECT w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country,
    carriers, sold_in, january, february, march, april, may, june,
    july, august, september, october, november, december,
    1.0000 * january / NULLIF(w_warehouse_sq_ft, 0), 1.0000 * february / NULLIF(w_warehouse_sq_ft, 0),
    1.0000 * march / NULLIF(w_warehouse_sq_ft, 0), 1.0000 * april / NULLIF(w_warehouse_sq_ft, 0),
    1.0000 * may / NULLIF(w_warehouse_sq_ft, 0), 1.0000 * june / NULLIF(w_warehouse_sq_ft, 0),
    1.0000 * july / NULLIF(w_warehouse_sq_ft, 0), 1.0000 * august / NULLIF(w_warehouse_sq_ft, 0),
    1.0000 * september / NULLIF(w_warehouse_sq_ft, 0), 1.0000 * october / NULLIF(w_warehouse_sq_ft, 0),
    1.0000 * november / NULLIF(w_warehouse_sq_ft, 0), 1.0000 * december / NULLIF(w_warehouse_sq_ft, 0),
    january_net, february_net, march_net, april_net, may_net, june_net, july_net, august_net, september_net, october_net,
    november_net, december_net
FROM (
    SELECT w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country,
        {carrier_names} AS carriers, {year} AS sold_in,
        SUM(CASE WHEN d_moy = 1 THEN amount ELSE 0 END) AS january, SUM(CASE WHEN d_moy = 2 THEN amount ELSE 0 END) AS february,
        SUM(CASE WHEN d_moy = 3 THEN amount ELSE 0 END) AS march, SUM(CASE WHEN d_moy = 4 THEN amount ELSE 0 END) AS april,
        SUM(CASE WHEN d_moy = 5 THEN amount ELSE 0 END) AS may, SUM(CASE WHEN d_moy = 6 THEN amount ELSE 0 END) AS june,
        SUM(CASE WHEN d_moy = 7 THEN amount ELSE 0 END) AS july, SUM(CASE WHEN d_moy = 8 THEN amount ELSE 0 END) AS august,
        SUM(CASE WHEN d_moy = 9 THEN amount ELSE 0 END) AS september,
        SUM(CASE WHEN d_moy = 10 THEN amount ELSE 0 END) AS october,
        SUM(CASE WHEN d_moy = 11 THEN amount ELSE 0 END) AS november,
        SUM(CASE WHEN d_moy = 12 THEN amount ELSE 0 END) AS december,
        SUM(CASE WHEN d_moy = 1 THEN net ELSE 0 END) AS january_net,
        SUM(CASE WHEN d_moy = 2 THEN net ELSE 0 END) AS february_net, SUM(CASE WHEN d_moy = 3 THEN net ELSE 0 END) AS march_net,
        SUM(CASE WHEN d_moy = 4 THEN net ELSE 0 END) AS april_net, SUM(CASE WHEN d_moy = 5 THEN net ELSE 0 END) AS may_net,
        SUM(CASE WHEN d_moy = 6 THEN net ELSE 0 END) AS june_net, SUM(CASE WHEN d_moy = 7 THEN net ELSE 0 END) AS july_net,
        SUM(CASE WHEN d_moy = 8 THEN net ELSE 0 END) AS august_net,
        SUM(CASE WHEN d_moy = 9 THEN net ELSE 0 END) AS september_net,
        SUM(CASE WHEN d_moy = 10 THEN net ELSE 0 END) AS october_net,
        SUM(CASE WHEN d_moy = 11 THEN net ELSE 0 END) AS november_net,
        SUM(CASE WHEN d_moy = 12 THEN net ELSE 0 END) AS december_net
    FROM (
        SELECT ws_warehouse_sk AS warehouse_key, d_moy,
            SUM(CASE {web_price} WHEN 1 THEN ws_sales_price WHEN 2 THEN ws_ext_sales_price ELSE ws_ext_list_price END
                * ws_quantity) AS amount,
            SUM(CASE {web_net} WHEN 1 THEN ws_net_paid WHEN 2 THEN ws_net_paid_inc_tax ELSE ws_net_paid_inc_ship_tax END
                * ws_quantity) AS net
        FROM date_dim
        JOIN web_sales ON ws_sold_date_sk = d_date_sk
        JOIN time_dim ON t_time_sk = ws_sold_time_sk
        JOIN ship_mode ON sm_ship_mode_sk = ws_ship_mode_sk
        WHERE d_year = {year} AND t_time BETWEEN {second} AND {second} + 28800 AND sm_carrier IN ({carriers})
        GROUP BY ws_warehouse_sk, d_moy
        UNION ALL
        SELECT cs_warehouse_sk, d_moy,
            SUM(CASE {catalog_price} WHEN 1 THEN cs_sales_price WHEN 2 THEN cs_ext_sales_price ELSE cs_ext_list_price END
                * cs_quantity),
            SUM(CASE {catalog_net} WHEN 1 THEN cs_net_paid WHEN 2 THEN cs_net_paid_inc_tax ELSE cs_net_paid_inc_ship_tax END
                * cs_quantity)
        FROM date_dim
        JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
        JOIN time_dim ON t_time_sk = cs_sold_time_sk
        JOIN ship_mode ON sm_ship_mode_sk = cs_ship_mode_sk
        WHERE d_year = {year} AND t_time BETWEEN {second} AND {second} + 28800 AND sm_carrier IN ({carriers})
        GROUP BY cs_warehouse_sk, d_moy) sent
    JOIN warehouse ON w_warehouse_sk = warehouse_key
    GROUP BY w_warehouse_name, w_warehouse_sq_ft, w_city, w_county, w_state, w_country) months
ORDER BY w_warehouse_name IS NOT NULL, w_warehouse_name
LIMIT 100;
