//! The tables: names, columns in the order in which rows are made, what they hold, and unique keys.

use crate::dataset::tables;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetailColumn {
    Integer,
    Decimal,
    Date,
    Text,
}

/// Makes the tables and, in the same order, what their columns hold.
macro_rules! tables_with_kinds {
    ($($table:ident [$($key:ident),+] { $($column:ident $kind:ident),+ $(,)? })+) => {
        tables! { $($table [$($key),+] { $($column),+ })+ }

        const KINDS: &[&[RetailColumn]] = &[$(&[$(RetailColumn::$kind),+]),+];
    };
}

/// What the columns of a table hold.
pub fn kinds(table: &str) -> &'static [RetailColumn] {
    let found = TABLES.iter().zip(KINDS).find(|(other, _)| other.name == table);
    found.map_or(&[], |(_, kinds)| *kinds)
}

// Keys of sales and returns begin with the number of the order, so that engines that keep rows in the order of their key keep
// them in the order in which they come. The last four tables are our own: how many refresh sets have been used, in its only
// row, and what such a set brings, until it is in the other tables.
tables_with_kinds! {
    income_band [ib_income_band_sk] {
        ib_income_band_sk Integer, ib_lower_bound Integer, ib_upper_bound Integer,
    }
    ship_mode [sm_ship_mode_sk] {
        sm_ship_mode_sk Integer, sm_ship_mode_id Text, sm_type Text, sm_code Text, sm_carrier Text, sm_contract Text,
    }
    reason [r_reason_sk] {
        r_reason_sk Integer, r_reason_id Text, r_reason_desc Text,
    }
    date_dim [d_date_sk] {
        d_date_sk Integer, d_date_id Text, d_date Date, d_month_seq Integer, d_week_seq Integer, d_quarter_seq Integer,
        d_year Integer, d_dow Integer, d_moy Integer, d_dom Integer, d_qoy Integer, d_fy_year Integer, d_fy_quarter_seq Integer,
        d_fy_week_seq Integer, d_day_name Text, d_quarter_name Text, d_holiday Text, d_weekend Text, d_following_holiday Text,
        d_first_dom Integer, d_last_dom Integer, d_same_day_ly Integer, d_same_day_lq Integer, d_current_day Text,
        d_current_week Text, d_current_month Text, d_current_quarter Text, d_current_year Text,
    }
    time_dim [t_time_sk] {
        t_time_sk Integer, t_time_id Text, t_time Integer, t_hour Integer, t_minute Integer, t_second Integer, t_am_pm Text,
        t_shift Text, t_sub_shift Text, t_meal_time Text,
    }
    customer_demographics [cd_demo_sk] {
        cd_demo_sk Integer, cd_gender Text, cd_marital_status Text, cd_education_status Text, cd_purchase_estimate Integer,
        cd_credit_rating Text, cd_dep_count Integer, cd_dep_employed_count Integer, cd_dep_college_count Integer,
    }
    household_demographics [hd_demo_sk] {
        hd_demo_sk Integer, hd_income_band_sk Integer, hd_buy_potential Text, hd_dep_count Integer, hd_vehicle_count Integer,
    }
    customer_address [ca_address_sk] {
        ca_address_sk Integer, ca_address_id Text, ca_street_number Text, ca_street_name Text, ca_street_type Text,
        ca_suite_number Text, ca_city Text, ca_county Text, ca_state Text, ca_zip Text, ca_country Text, ca_gmt_offset Decimal,
        ca_location_type Text,
    }
    customer [c_customer_sk] {
        c_customer_sk Integer, c_customer_id Text, c_current_cdemo_sk Integer, c_current_hdemo_sk Integer,
        c_current_addr_sk Integer, c_first_shipto_date_sk Integer, c_first_sales_date_sk Integer, c_salutation Text,
        c_first_name Text, c_last_name Text, c_preferred_cust_flag Text, c_birth_day Integer, c_birth_month Integer,
        c_birth_year Integer, c_birth_country Text, c_login Text, c_email_address Text, c_last_review_date_sk Integer,
    }
    item [i_item_sk] {
        i_item_sk Integer, i_item_id Text, i_rec_start_date Date, i_rec_end_date Date, i_item_desc Text,
        i_current_price Decimal, i_wholesale_cost Decimal, i_brand_id Integer, i_brand Text, i_class_id Integer, i_class Text,
        i_category_id Integer, i_category Text, i_manufact_id Integer, i_manufact Text, i_size Text, i_formulation Text,
        i_color Text, i_units Text, i_container Text, i_manager_id Integer, i_product_name Text,
    }
    promotion [p_promo_sk] {
        p_promo_sk Integer, p_promo_id Text, p_start_date_sk Integer, p_end_date_sk Integer, p_item_sk Integer, p_cost Decimal,
        p_response_target Integer, p_promo_name Text, p_channel_dmail Text, p_channel_email Text, p_channel_catalog Text,
        p_channel_tv Text, p_channel_radio Text, p_channel_press Text, p_channel_event Text, p_channel_demo Text,
        p_channel_details Text, p_purpose Text, p_discount_active Text,
    }
    store [s_store_sk] {
        s_store_sk Integer, s_store_id Text, s_rec_start_date Date, s_rec_end_date Date, s_closed_date_sk Integer,
        s_store_name Text, s_number_employees Integer, s_floor_space Integer, s_hours Text, s_manager Text, s_market_id Integer,
        s_geography_class Text, s_market_desc Text, s_market_manager Text, s_division_id Integer, s_division_name Text,
        s_company_id Integer, s_company_name Text, s_street_number Text, s_street_name Text, s_street_type Text,
        s_suite_number Text, s_city Text, s_county Text, s_state Text, s_zip Text, s_country Text, s_gmt_offset Decimal,
        s_tax_precentage Decimal,
    }
    call_center [cc_call_center_sk] {
        cc_call_center_sk Integer, cc_call_center_id Text, cc_rec_start_date Date, cc_rec_end_date Date,
        cc_closed_date_sk Integer, cc_open_date_sk Integer, cc_name Text, cc_class Text, cc_employees Integer, cc_sq_ft Integer,
        cc_hours Text, cc_manager Text, cc_mkt_id Integer, cc_mkt_class Text, cc_mkt_desc Text, cc_market_manager Text,
        cc_division Integer, cc_division_name Text, cc_company Integer, cc_company_name Text, cc_street_number Text,
        cc_street_name Text, cc_street_type Text, cc_suite_number Text, cc_city Text, cc_county Text, cc_state Text,
        cc_zip Text, cc_country Text, cc_gmt_offset Decimal, cc_tax_percentage Decimal,
    }
    catalog_page [cp_catalog_page_sk] {
        cp_catalog_page_sk Integer, cp_catalog_page_id Text, cp_start_date_sk Integer, cp_end_date_sk Integer,
        cp_department Text, cp_catalog_number Integer, cp_catalog_page_number Integer, cp_description Text, cp_type Text,
    }
    web_site [web_site_sk] {
        web_site_sk Integer, web_site_id Text, web_rec_start_date Date, web_rec_end_date Date, web_name Text,
        web_open_date_sk Integer, web_close_date_sk Integer, web_class Text, web_manager Text, web_mkt_id Integer,
        web_mkt_class Text, web_mkt_desc Text, web_market_manager Text, web_company_id Integer, web_company_name Text,
        web_street_number Text, web_street_name Text, web_street_type Text, web_suite_number Text, web_city Text,
        web_county Text, web_state Text, web_zip Text, web_country Text, web_gmt_offset Decimal, web_tax_percentage Decimal,
    }
    web_page [wp_web_page_sk] {
        wp_web_page_sk Integer, wp_web_page_id Text, wp_rec_start_date Date, wp_rec_end_date Date, wp_creation_date_sk Integer,
        wp_access_date_sk Integer, wp_autogen_flag Text, wp_customer_sk Integer, wp_url Text, wp_type Text,
        wp_char_count Integer, wp_link_count Integer, wp_image_count Integer, wp_max_ad_count Integer,
    }
    warehouse [w_warehouse_sk] {
        w_warehouse_sk Integer, w_warehouse_id Text, w_warehouse_name Text, w_warehouse_sq_ft Integer, w_street_number Text,
        w_street_name Text, w_street_type Text, w_suite_number Text, w_city Text, w_county Text, w_state Text, w_zip Text,
        w_country Text, w_gmt_offset Decimal,
    }
    store_sales [ss_ticket_number, ss_item_sk] {
        ss_sold_date_sk Integer, ss_sold_time_sk Integer, ss_item_sk Integer, ss_customer_sk Integer, ss_cdemo_sk Integer,
        ss_hdemo_sk Integer, ss_addr_sk Integer, ss_store_sk Integer, ss_promo_sk Integer, ss_ticket_number Integer,
        ss_quantity Integer, ss_wholesale_cost Decimal, ss_list_price Decimal, ss_sales_price Decimal,
        ss_ext_discount_amt Decimal, ss_ext_sales_price Decimal, ss_ext_wholesale_cost Decimal, ss_ext_list_price Decimal,
        ss_ext_tax Decimal, ss_coupon_amt Decimal, ss_net_paid Decimal, ss_net_paid_inc_tax Decimal, ss_net_profit Decimal,
    }
    store_returns [sr_ticket_number, sr_item_sk] {
        sr_returned_date_sk Integer, sr_return_time_sk Integer, sr_item_sk Integer, sr_customer_sk Integer, sr_cdemo_sk Integer,
        sr_hdemo_sk Integer, sr_addr_sk Integer, sr_store_sk Integer, sr_reason_sk Integer, sr_ticket_number Integer,
        sr_return_quantity Integer, sr_return_amt Decimal, sr_return_tax Decimal, sr_return_amt_inc_tax Decimal, sr_fee Decimal,
        sr_return_ship_cost Decimal, sr_refunded_cash Decimal, sr_reversed_charge Decimal, sr_store_credit Decimal,
        sr_net_loss Decimal,
    }
    catalog_sales [cs_order_number, cs_item_sk] {
        cs_sold_date_sk Integer, cs_sold_time_sk Integer, cs_ship_date_sk Integer, cs_bill_customer_sk Integer,
        cs_bill_cdemo_sk Integer, cs_bill_hdemo_sk Integer, cs_bill_addr_sk Integer, cs_ship_customer_sk Integer,
        cs_ship_cdemo_sk Integer, cs_ship_hdemo_sk Integer, cs_ship_addr_sk Integer, cs_call_center_sk Integer,
        cs_catalog_page_sk Integer, cs_ship_mode_sk Integer, cs_warehouse_sk Integer, cs_item_sk Integer, cs_promo_sk Integer,
        cs_order_number Integer, cs_quantity Integer, cs_wholesale_cost Decimal, cs_list_price Decimal, cs_sales_price Decimal,
        cs_ext_discount_amt Decimal, cs_ext_sales_price Decimal, cs_ext_wholesale_cost Decimal, cs_ext_list_price Decimal,
        cs_ext_tax Decimal, cs_coupon_amt Decimal, cs_ext_ship_cost Decimal, cs_net_paid Decimal, cs_net_paid_inc_tax Decimal,
        cs_net_paid_inc_ship Decimal, cs_net_paid_inc_ship_tax Decimal, cs_net_profit Decimal,
    }
    catalog_returns [cr_order_number, cr_item_sk] {
        cr_returned_date_sk Integer, cr_returned_time_sk Integer, cr_item_sk Integer, cr_refunded_customer_sk Integer,
        cr_refunded_cdemo_sk Integer, cr_refunded_hdemo_sk Integer, cr_refunded_addr_sk Integer,
        cr_returning_customer_sk Integer, cr_returning_cdemo_sk Integer, cr_returning_hdemo_sk Integer,
        cr_returning_addr_sk Integer, cr_call_center_sk Integer, cr_catalog_page_sk Integer, cr_ship_mode_sk Integer,
        cr_warehouse_sk Integer, cr_reason_sk Integer, cr_order_number Integer, cr_return_quantity Integer,
        cr_return_amount Decimal, cr_return_tax Decimal, cr_return_amt_inc_tax Decimal, cr_fee Decimal,
        cr_return_ship_cost Decimal, cr_refunded_cash Decimal, cr_reversed_charge Decimal, cr_store_credit Decimal,
        cr_net_loss Decimal,
    }
    web_sales [ws_order_number, ws_item_sk] {
        ws_sold_date_sk Integer, ws_sold_time_sk Integer, ws_ship_date_sk Integer, ws_item_sk Integer,
        ws_bill_customer_sk Integer, ws_bill_cdemo_sk Integer, ws_bill_hdemo_sk Integer, ws_bill_addr_sk Integer,
        ws_ship_customer_sk Integer, ws_ship_cdemo_sk Integer, ws_ship_hdemo_sk Integer, ws_ship_addr_sk Integer,
        ws_web_page_sk Integer, ws_web_site_sk Integer, ws_ship_mode_sk Integer, ws_warehouse_sk Integer, ws_promo_sk Integer,
        ws_order_number Integer, ws_quantity Integer, ws_wholesale_cost Decimal, ws_list_price Decimal, ws_sales_price Decimal,
        ws_ext_discount_amt Decimal, ws_ext_sales_price Decimal, ws_ext_wholesale_cost Decimal, ws_ext_list_price Decimal,
        ws_ext_tax Decimal, ws_coupon_amt Decimal, ws_ext_ship_cost Decimal, ws_net_paid Decimal, ws_net_paid_inc_tax Decimal,
        ws_net_paid_inc_ship Decimal, ws_net_paid_inc_ship_tax Decimal, ws_net_profit Decimal,
    }
    web_returns [wr_order_number, wr_item_sk] {
        wr_returned_date_sk Integer, wr_returned_time_sk Integer, wr_item_sk Integer, wr_refunded_customer_sk Integer,
        wr_refunded_cdemo_sk Integer, wr_refunded_hdemo_sk Integer, wr_refunded_addr_sk Integer,
        wr_returning_customer_sk Integer, wr_returning_cdemo_sk Integer, wr_returning_hdemo_sk Integer,
        wr_returning_addr_sk Integer, wr_web_page_sk Integer, wr_reason_sk Integer, wr_order_number Integer,
        wr_return_quantity Integer, wr_return_amt Decimal, wr_return_tax Decimal, wr_return_amt_inc_tax Decimal, wr_fee Decimal,
        wr_return_ship_cost Decimal, wr_refunded_cash Decimal, wr_reversed_charge Decimal, wr_account_credit Decimal,
        wr_net_loss Decimal,
    }
    inventory [inv_date_sk, inv_item_sk, inv_warehouse_sk] {
        inv_date_sk Integer, inv_item_sk Integer, inv_warehouse_sk Integer, inv_quantity_on_hand Integer,
    }
    refresh_sets [id] {
        id Integer, used Integer,
    }
    new_orders [order_number] {
        order_number Integer, day Date, hour Integer, minute Integer, second Integer, place_id Text, customer_id Text,
        ship_customer_id Text, ship_mode_id Text,
    }
    new_lines [order_number, line_number] {
        order_number Integer, line_number Integer, item_id Text, promotion_id Text, page_id Text, warehouse_id Text,
        ship_day Date, quantity Integer, sales_price Decimal, coupon Decimal, ship_cost Decimal,
    }
    new_returns [order_number, line_number] {
        order_number Integer, line_number Integer, item_id Text, day Date, hour Integer, minute Integer, second Integer,
        place_id Text, page_id Text, ship_mode_id Text, warehouse_id Text, reason_id Text, refunded_customer_id Text,
        returning_customer_id Text, quantity Integer, amount Decimal, tax Decimal, fee Decimal, ship_cost Decimal, cash Decimal,
        charge Decimal, credit Decimal,
    }
}
