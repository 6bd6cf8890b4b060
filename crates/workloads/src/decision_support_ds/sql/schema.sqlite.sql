-- STRICT would refuse DECIMAL and DATE columns, whose declarations tell how values are stored. Where the key is one number,
-- it is the row id. Only keys and names of things are never null.

CREATE TABLE income_band (
    ib_income_band_sk INTEGER PRIMARY KEY, ib_lower_bound INTEGER, ib_upper_bound INTEGER
);

CREATE TABLE ship_mode (
    sm_ship_mode_sk INTEGER PRIMARY KEY, sm_ship_mode_id TEXT NOT NULL, sm_type TEXT, sm_code TEXT, sm_carrier TEXT,
    sm_contract TEXT
);

CREATE TABLE reason (
    r_reason_sk INTEGER PRIMARY KEY, r_reason_id TEXT NOT NULL, r_reason_desc TEXT
);

CREATE TABLE date_dim (
    d_date_sk INTEGER PRIMARY KEY, d_date_id TEXT NOT NULL, d_date DATE, d_month_seq INTEGER, d_week_seq INTEGER,
    d_quarter_seq INTEGER, d_year INTEGER, d_dow INTEGER, d_moy INTEGER, d_dom INTEGER, d_qoy INTEGER, d_fy_year INTEGER,
    d_fy_quarter_seq INTEGER, d_fy_week_seq INTEGER, d_day_name TEXT, d_quarter_name TEXT, d_holiday TEXT, d_weekend TEXT,
    d_following_holiday TEXT, d_first_dom INTEGER, d_last_dom INTEGER, d_same_day_ly INTEGER, d_same_day_lq INTEGER,
    d_current_day TEXT, d_current_week TEXT, d_current_month TEXT, d_current_quarter TEXT, d_current_year TEXT
);

CREATE TABLE time_dim (
    t_time_sk INTEGER PRIMARY KEY, t_time_id TEXT NOT NULL, t_time INTEGER, t_hour INTEGER, t_minute INTEGER, t_second INTEGER,
    t_am_pm TEXT, t_shift TEXT, t_sub_shift TEXT, t_meal_time TEXT
);

CREATE TABLE customer_demographics (
    cd_demo_sk INTEGER PRIMARY KEY, cd_gender TEXT, cd_marital_status TEXT, cd_education_status TEXT,
    cd_purchase_estimate INTEGER, cd_credit_rating TEXT, cd_dep_count INTEGER, cd_dep_employed_count INTEGER,
    cd_dep_college_count INTEGER
);

CREATE TABLE household_demographics (
    hd_demo_sk INTEGER PRIMARY KEY, hd_income_band_sk INTEGER, hd_buy_potential TEXT, hd_dep_count INTEGER,
    hd_vehicle_count INTEGER
);

CREATE TABLE customer_address (
    ca_address_sk INTEGER PRIMARY KEY, ca_address_id TEXT NOT NULL, ca_street_number TEXT, ca_street_name TEXT,
    ca_street_type TEXT, ca_suite_number TEXT, ca_city TEXT, ca_county TEXT, ca_state TEXT, ca_zip TEXT, ca_country TEXT,
    ca_gmt_offset DECIMAL(5, 2), ca_location_type TEXT
);

CREATE TABLE customer (
    c_customer_sk INTEGER PRIMARY KEY, c_customer_id TEXT NOT NULL, c_current_cdemo_sk INTEGER, c_current_hdemo_sk INTEGER,
    c_current_addr_sk INTEGER, c_first_shipto_date_sk INTEGER, c_first_sales_date_sk INTEGER, c_salutation TEXT,
    c_first_name TEXT, c_last_name TEXT, c_preferred_cust_flag TEXT, c_birth_day INTEGER, c_birth_month INTEGER,
    c_birth_year INTEGER, c_birth_country TEXT, c_login TEXT, c_email_address TEXT, c_last_review_date_sk INTEGER
);

CREATE TABLE item (
    i_item_sk INTEGER PRIMARY KEY, i_item_id TEXT NOT NULL, i_rec_start_date DATE, i_rec_end_date DATE, i_item_desc TEXT,
    i_current_price DECIMAL(7, 2), i_wholesale_cost DECIMAL(7, 2), i_brand_id INTEGER, i_brand TEXT, i_class_id INTEGER,
    i_class TEXT, i_category_id INTEGER, i_category TEXT, i_manufact_id INTEGER, i_manufact TEXT, i_size TEXT,
    i_formulation TEXT, i_color TEXT, i_units TEXT, i_container TEXT, i_manager_id INTEGER, i_product_name TEXT
);

CREATE TABLE promotion (
    p_promo_sk INTEGER PRIMARY KEY, p_promo_id TEXT NOT NULL, p_start_date_sk INTEGER, p_end_date_sk INTEGER, p_item_sk INTEGER,
    p_cost DECIMAL(15, 2), p_response_target INTEGER, p_promo_name TEXT, p_channel_dmail TEXT, p_channel_email TEXT,
    p_channel_catalog TEXT, p_channel_tv TEXT, p_channel_radio TEXT, p_channel_press TEXT, p_channel_event TEXT,
    p_channel_demo TEXT, p_channel_details TEXT, p_purpose TEXT, p_discount_active TEXT
);

CREATE TABLE store (
    s_store_sk INTEGER PRIMARY KEY, s_store_id TEXT NOT NULL, s_rec_start_date DATE, s_rec_end_date DATE,
    s_closed_date_sk INTEGER, s_store_name TEXT, s_number_employees INTEGER, s_floor_space INTEGER, s_hours TEXT,
    s_manager TEXT, s_market_id INTEGER, s_geography_class TEXT, s_market_desc TEXT, s_market_manager TEXT,
    s_division_id INTEGER, s_division_name TEXT, s_company_id INTEGER, s_company_name TEXT, s_street_number TEXT,
    s_street_name TEXT, s_street_type TEXT, s_suite_number TEXT, s_city TEXT, s_county TEXT, s_state TEXT, s_zip TEXT,
    s_country TEXT, s_gmt_offset DECIMAL(5, 2), s_tax_precentage DECIMAL(5, 2)
);

CREATE TABLE call_center (
    cc_call_center_sk INTEGER PRIMARY KEY, cc_call_center_id TEXT NOT NULL, cc_rec_start_date DATE, cc_rec_end_date DATE,
    cc_closed_date_sk INTEGER, cc_open_date_sk INTEGER, cc_name TEXT, cc_class TEXT, cc_employees INTEGER, cc_sq_ft INTEGER,
    cc_hours TEXT, cc_manager TEXT, cc_mkt_id INTEGER, cc_mkt_class TEXT, cc_mkt_desc TEXT, cc_market_manager TEXT,
    cc_division INTEGER, cc_division_name TEXT, cc_company INTEGER, cc_company_name TEXT, cc_street_number TEXT,
    cc_street_name TEXT, cc_street_type TEXT, cc_suite_number TEXT, cc_city TEXT, cc_county TEXT, cc_state TEXT, cc_zip TEXT,
    cc_country TEXT, cc_gmt_offset DECIMAL(5, 2), cc_tax_percentage DECIMAL(5, 2)
);

CREATE TABLE catalog_page (
    cp_catalog_page_sk INTEGER PRIMARY KEY, cp_catalog_page_id TEXT NOT NULL, cp_start_date_sk INTEGER, cp_end_date_sk INTEGER,
    cp_department TEXT, cp_catalog_number INTEGER, cp_catalog_page_number INTEGER, cp_description TEXT, cp_type TEXT
);

CREATE TABLE web_site (
    web_site_sk INTEGER PRIMARY KEY, web_site_id TEXT NOT NULL, web_rec_start_date DATE, web_rec_end_date DATE, web_name TEXT,
    web_open_date_sk INTEGER, web_close_date_sk INTEGER, web_class TEXT, web_manager TEXT, web_mkt_id INTEGER,
    web_mkt_class TEXT, web_mkt_desc TEXT, web_market_manager TEXT, web_company_id INTEGER, web_company_name TEXT,
    web_street_number TEXT, web_street_name TEXT, web_street_type TEXT, web_suite_number TEXT, web_city TEXT, web_county TEXT,
    web_state TEXT, web_zip TEXT, web_country TEXT, web_gmt_offset DECIMAL(5, 2), web_tax_percentage DECIMAL(5, 2)
);

CREATE TABLE web_page (
    wp_web_page_sk INTEGER PRIMARY KEY, wp_web_page_id TEXT NOT NULL, wp_rec_start_date DATE, wp_rec_end_date DATE,
    wp_creation_date_sk INTEGER, wp_access_date_sk INTEGER, wp_autogen_flag TEXT, wp_customer_sk INTEGER, wp_url TEXT,
    wp_type TEXT, wp_char_count INTEGER, wp_link_count INTEGER, wp_image_count INTEGER, wp_max_ad_count INTEGER
);

CREATE TABLE warehouse (
    w_warehouse_sk INTEGER PRIMARY KEY, w_warehouse_id TEXT NOT NULL, w_warehouse_name TEXT, w_warehouse_sq_ft INTEGER,
    w_street_number TEXT, w_street_name TEXT, w_street_type TEXT, w_suite_number TEXT, w_city TEXT, w_county TEXT, w_state TEXT,
    w_zip TEXT, w_country TEXT, w_gmt_offset DECIMAL(5, 2)
);

CREATE TABLE store_sales (
    ss_sold_date_sk INTEGER, ss_sold_time_sk INTEGER, ss_item_sk INTEGER NOT NULL, ss_customer_sk INTEGER, ss_cdemo_sk INTEGER,
    ss_hdemo_sk INTEGER, ss_addr_sk INTEGER, ss_store_sk INTEGER, ss_promo_sk INTEGER, ss_ticket_number INTEGER NOT NULL,
    ss_quantity INTEGER, ss_wholesale_cost DECIMAL(7, 2), ss_list_price DECIMAL(7, 2), ss_sales_price DECIMAL(7, 2),
    ss_ext_discount_amt DECIMAL(7, 2), ss_ext_sales_price DECIMAL(7, 2), ss_ext_wholesale_cost DECIMAL(7, 2),
    ss_ext_list_price DECIMAL(7, 2), ss_ext_tax DECIMAL(7, 2), ss_coupon_amt DECIMAL(7, 2), ss_net_paid DECIMAL(7, 2),
    ss_net_paid_inc_tax DECIMAL(7, 2), ss_net_profit DECIMAL(7, 2), PRIMARY KEY (ss_ticket_number, ss_item_sk)
) WITHOUT ROWID;

CREATE TABLE store_returns (
    sr_returned_date_sk INTEGER, sr_return_time_sk INTEGER, sr_item_sk INTEGER NOT NULL, sr_customer_sk INTEGER,
    sr_cdemo_sk INTEGER, sr_hdemo_sk INTEGER, sr_addr_sk INTEGER, sr_store_sk INTEGER, sr_reason_sk INTEGER,
    sr_ticket_number INTEGER NOT NULL, sr_return_quantity INTEGER, sr_return_amt DECIMAL(7, 2), sr_return_tax DECIMAL(7, 2),
    sr_return_amt_inc_tax DECIMAL(7, 2), sr_fee DECIMAL(7, 2), sr_return_ship_cost DECIMAL(7, 2),
    sr_refunded_cash DECIMAL(7, 2), sr_reversed_charge DECIMAL(7, 2), sr_store_credit DECIMAL(7, 2), sr_net_loss DECIMAL(7, 2),
    PRIMARY KEY (sr_ticket_number, sr_item_sk)
) WITHOUT ROWID;

CREATE TABLE catalog_sales (
    cs_sold_date_sk INTEGER, cs_sold_time_sk INTEGER, cs_ship_date_sk INTEGER, cs_bill_customer_sk INTEGER,
    cs_bill_cdemo_sk INTEGER, cs_bill_hdemo_sk INTEGER, cs_bill_addr_sk INTEGER, cs_ship_customer_sk INTEGER,
    cs_ship_cdemo_sk INTEGER, cs_ship_hdemo_sk INTEGER, cs_ship_addr_sk INTEGER, cs_call_center_sk INTEGER,
    cs_catalog_page_sk INTEGER, cs_ship_mode_sk INTEGER, cs_warehouse_sk INTEGER, cs_item_sk INTEGER NOT NULL,
    cs_promo_sk INTEGER, cs_order_number INTEGER NOT NULL, cs_quantity INTEGER, cs_wholesale_cost DECIMAL(7, 2),
    cs_list_price DECIMAL(7, 2), cs_sales_price DECIMAL(7, 2), cs_ext_discount_amt DECIMAL(7, 2),
    cs_ext_sales_price DECIMAL(7, 2), cs_ext_wholesale_cost DECIMAL(7, 2), cs_ext_list_price DECIMAL(7, 2),
    cs_ext_tax DECIMAL(7, 2), cs_coupon_amt DECIMAL(7, 2), cs_ext_ship_cost DECIMAL(7, 2), cs_net_paid DECIMAL(7, 2),
    cs_net_paid_inc_tax DECIMAL(7, 2), cs_net_paid_inc_ship DECIMAL(7, 2), cs_net_paid_inc_ship_tax DECIMAL(7, 2),
    cs_net_profit DECIMAL(7, 2), PRIMARY KEY (cs_order_number, cs_item_sk)
) WITHOUT ROWID;

CREATE TABLE catalog_returns (
    cr_returned_date_sk INTEGER, cr_returned_time_sk INTEGER, cr_item_sk INTEGER NOT NULL, cr_refunded_customer_sk INTEGER,
    cr_refunded_cdemo_sk INTEGER, cr_refunded_hdemo_sk INTEGER, cr_refunded_addr_sk INTEGER, cr_returning_customer_sk INTEGER,
    cr_returning_cdemo_sk INTEGER, cr_returning_hdemo_sk INTEGER, cr_returning_addr_sk INTEGER, cr_call_center_sk INTEGER,
    cr_catalog_page_sk INTEGER, cr_ship_mode_sk INTEGER, cr_warehouse_sk INTEGER, cr_reason_sk INTEGER,
    cr_order_number INTEGER NOT NULL, cr_return_quantity INTEGER, cr_return_amount DECIMAL(7, 2), cr_return_tax DECIMAL(7, 2),
    cr_return_amt_inc_tax DECIMAL(7, 2), cr_fee DECIMAL(7, 2), cr_return_ship_cost DECIMAL(7, 2),
    cr_refunded_cash DECIMAL(7, 2), cr_reversed_charge DECIMAL(7, 2), cr_store_credit DECIMAL(7, 2), cr_net_loss DECIMAL(7, 2),
    PRIMARY KEY (cr_order_number, cr_item_sk)
) WITHOUT ROWID;

CREATE TABLE web_sales (
    ws_sold_date_sk INTEGER, ws_sold_time_sk INTEGER, ws_ship_date_sk INTEGER, ws_item_sk INTEGER NOT NULL,
    ws_bill_customer_sk INTEGER, ws_bill_cdemo_sk INTEGER, ws_bill_hdemo_sk INTEGER, ws_bill_addr_sk INTEGER,
    ws_ship_customer_sk INTEGER, ws_ship_cdemo_sk INTEGER, ws_ship_hdemo_sk INTEGER, ws_ship_addr_sk INTEGER,
    ws_web_page_sk INTEGER, ws_web_site_sk INTEGER, ws_ship_mode_sk INTEGER, ws_warehouse_sk INTEGER, ws_promo_sk INTEGER,
    ws_order_number INTEGER NOT NULL, ws_quantity INTEGER, ws_wholesale_cost DECIMAL(7, 2), ws_list_price DECIMAL(7, 2),
    ws_sales_price DECIMAL(7, 2), ws_ext_discount_amt DECIMAL(7, 2), ws_ext_sales_price DECIMAL(7, 2),
    ws_ext_wholesale_cost DECIMAL(7, 2), ws_ext_list_price DECIMAL(7, 2), ws_ext_tax DECIMAL(7, 2), ws_coupon_amt DECIMAL(7, 2),
    ws_ext_ship_cost DECIMAL(7, 2), ws_net_paid DECIMAL(7, 2), ws_net_paid_inc_tax DECIMAL(7, 2),
    ws_net_paid_inc_ship DECIMAL(7, 2), ws_net_paid_inc_ship_tax DECIMAL(7, 2), ws_net_profit DECIMAL(7, 2),
    PRIMARY KEY (ws_order_number, ws_item_sk)
) WITHOUT ROWID;

CREATE TABLE web_returns (
    wr_returned_date_sk INTEGER, wr_returned_time_sk INTEGER, wr_item_sk INTEGER NOT NULL, wr_refunded_customer_sk INTEGER,
    wr_refunded_cdemo_sk INTEGER, wr_refunded_hdemo_sk INTEGER, wr_refunded_addr_sk INTEGER, wr_returning_customer_sk INTEGER,
    wr_returning_cdemo_sk INTEGER, wr_returning_hdemo_sk INTEGER, wr_returning_addr_sk INTEGER, wr_web_page_sk INTEGER,
    wr_reason_sk INTEGER, wr_order_number INTEGER NOT NULL, wr_return_quantity INTEGER, wr_return_amt DECIMAL(7, 2),
    wr_return_tax DECIMAL(7, 2), wr_return_amt_inc_tax DECIMAL(7, 2), wr_fee DECIMAL(7, 2), wr_return_ship_cost DECIMAL(7, 2),
    wr_refunded_cash DECIMAL(7, 2), wr_reversed_charge DECIMAL(7, 2), wr_account_credit DECIMAL(7, 2),
    wr_net_loss DECIMAL(7, 2), PRIMARY KEY (wr_order_number, wr_item_sk)
) WITHOUT ROWID;

CREATE TABLE inventory (
    inv_date_sk INTEGER NOT NULL, inv_item_sk INTEGER NOT NULL, inv_warehouse_sk INTEGER NOT NULL, inv_quantity_on_hand INTEGER,
    PRIMARY KEY (inv_date_sk, inv_item_sk, inv_warehouse_sk)
) WITHOUT ROWID;

CREATE TABLE refresh_sets (
    id INTEGER PRIMARY KEY, used INTEGER NOT NULL
);

CREATE TABLE new_orders (
    order_number INTEGER PRIMARY KEY, day DATE, hour INTEGER, minute INTEGER, second INTEGER, place_id TEXT, customer_id TEXT,
    ship_customer_id TEXT, ship_mode_id TEXT
);

CREATE TABLE new_lines (
    order_number INTEGER NOT NULL, line_number INTEGER NOT NULL, item_id TEXT, promotion_id TEXT, page_id TEXT,
    warehouse_id TEXT, ship_day DATE, quantity INTEGER, sales_price DECIMAL(7, 2), coupon DECIMAL(7, 2),
    ship_cost DECIMAL(7, 2), PRIMARY KEY (order_number, line_number)
) WITHOUT ROWID;

CREATE TABLE new_returns (
    order_number INTEGER NOT NULL, line_number INTEGER NOT NULL, item_id TEXT, day DATE, hour INTEGER, minute INTEGER,
    second INTEGER, place_id TEXT, page_id TEXT, ship_mode_id TEXT, warehouse_id TEXT, reason_id TEXT,
    refunded_customer_id TEXT, returning_customer_id TEXT, quantity INTEGER, amount DECIMAL(7, 2), tax DECIMAL(7, 2),
    fee DECIMAL(7, 2), ship_cost DECIMAL(7, 2), cash DECIMAL(7, 2), charge DECIMAL(7, 2), credit DECIMAL(7, 2),
    PRIMARY KEY (order_number, line_number)
) WITHOUT ROWID;
