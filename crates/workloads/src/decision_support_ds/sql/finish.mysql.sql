-- Indexes are on dates, keys and properties that reports often ask for. None is made for a certain question.
ALTER TABLE date_dim
    ADD INDEX date_dim_by_date (d_date),
    ADD INDEX date_dim_by_month (d_year, d_moy),
    ADD INDEX date_dim_by_month_seq (d_month_seq),
    ADD INDEX date_dim_by_week_seq (d_week_seq);
ALTER TABLE time_dim
    ADD INDEX time_dim_by_minute (t_hour, t_minute);
ALTER TABLE customer_address
    ADD INDEX customer_address_by_state (ca_state);
ALTER TABLE customer
    ADD INDEX customer_by_id (c_customer_id),
    ADD INDEX customer_by_address (c_current_addr_sk),
    ADD INDEX customer_by_demographics (c_current_cdemo_sk);
ALTER TABLE item
    ADD INDEX item_by_id (i_item_id),
    ADD INDEX item_by_category (i_category),
    ADD INDEX item_by_manufacturer_id (i_manufact_id),
    ADD INDEX item_by_manufacturer (i_manufact),
    ADD INDEX item_by_manager (i_manager_id);
ALTER TABLE store_sales
    ADD INDEX store_sales_by_date (ss_sold_date_sk),
    ADD INDEX store_sales_by_item (ss_item_sk),
    ADD INDEX store_sales_by_customer (ss_customer_sk),
    ADD INDEX store_sales_by_store (ss_store_sk);
ALTER TABLE store_returns
    ADD INDEX store_returns_by_date (sr_returned_date_sk),
    ADD INDEX store_returns_by_item (sr_item_sk),
    ADD INDEX store_returns_by_customer (sr_customer_sk),
    ADD INDEX store_returns_by_store (sr_store_sk);
ALTER TABLE catalog_sales
    ADD INDEX catalog_sales_by_date (cs_sold_date_sk),
    ADD INDEX catalog_sales_by_ship_date (cs_ship_date_sk),
    ADD INDEX catalog_sales_by_item (cs_item_sk),
    ADD INDEX catalog_sales_by_bill_customer (cs_bill_customer_sk),
    ADD INDEX catalog_sales_by_ship_customer (cs_ship_customer_sk);
ALTER TABLE catalog_returns
    ADD INDEX catalog_returns_by_date (cr_returned_date_sk),
    ADD INDEX catalog_returns_by_item (cr_item_sk);
ALTER TABLE web_sales
    ADD INDEX web_sales_by_date (ws_sold_date_sk),
    ADD INDEX web_sales_by_ship_date (ws_ship_date_sk),
    ADD INDEX web_sales_by_item (ws_item_sk),
    ADD INDEX web_sales_by_bill_customer (ws_bill_customer_sk),
    ADD INDEX web_sales_by_ship_customer (ws_ship_customer_sk);
ALTER TABLE web_returns
    ADD INDEX web_returns_by_date (wr_returned_date_sk),
    ADD INDEX web_returns_by_item (wr_item_sk);
ALTER TABLE inventory
    ADD INDEX inventory_by_item (inv_item_sk, inv_date_sk);
