//! The tables. A table stands after those that it refers to.

use crate::dataset::tables;

tables! {
    status_type [st_id] { st_id, st_name }
    zip_code [zc_code] { zc_code, zc_town, zc_div }
    taxrate [tx_id] { tx_id, tx_name, tx_rate }
    address [ad_id] { ad_id, ad_line1, ad_line2, ad_zc_code, ad_ctry }
    sector [sc_id] { sc_id, sc_name }
    industry [in_id] { in_id, in_name, in_sc_id }
    exchange [ex_id] { ex_id, ex_name, ex_num_symb, ex_open, ex_close, ex_desc, ex_ad_id }
    trade_type [tt_id] { tt_id, tt_name, tt_is_sell, tt_is_mrkt }
    charge [ch_tt_id, ch_c_tier] { ch_tt_id, ch_c_tier, ch_chrg }
    commission_rate [cr_c_tier, cr_tt_id, cr_ex_id, cr_from_qty] {
        cr_c_tier, cr_tt_id, cr_ex_id, cr_from_qty, cr_to_qty, cr_rate,
    }
    company [co_id] {
        co_id, co_st_id, co_name, co_in_id, co_sp_rate, co_ceo, co_ad_id, co_desc, co_open_date,
    }
    company_competitor [cp_co_id, cp_comp_co_id, cp_in_id] { cp_co_id, cp_comp_co_id, cp_in_id }
    security [s_symb] {
        s_symb, s_issue, s_st_id, s_name, s_ex_id, s_co_id, s_num_out, s_start_date, s_exch_date, s_pe, s_52wk_high,
        s_52wk_high_date, s_52wk_low, s_52wk_low_date, s_dividend, s_yield,
    }
    daily_market [dm_s_symb, dm_date] { dm_date, dm_s_symb, dm_close, dm_high, dm_low, dm_vol }
    financial [fi_co_id, fi_year, fi_qtr] {
        fi_co_id, fi_year, fi_qtr, fi_qtr_start_date, fi_revenue, fi_net_earn, fi_basic_eps, fi_dilut_eps, fi_margin,
        fi_inventory, fi_assets, fi_liability, fi_out_basic, fi_out_dilut,
    }
    last_trade [lt_s_symb] { lt_s_symb, lt_dts, lt_price, lt_open_price, lt_vol }
    news_item [ni_id] { ni_id, ni_headline, ni_summary, ni_dts, ni_source, ni_author, ni_item }
    news_xref [nx_co_id, nx_ni_id] { nx_ni_id, nx_co_id }
    customer [c_id] {
        c_id, c_tax_id, c_st_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob, c_ad_id, c_ctry_1, c_area_1,
        c_local_1, c_ext_1, c_ctry_2, c_area_2, c_local_2, c_ext_2, c_ctry_3, c_area_3, c_local_3, c_ext_3, c_email_1,
        c_email_2,
    }
    customer_taxrate [cx_c_id, cx_tx_id] { cx_tx_id, cx_c_id }
    broker [b_id] { b_id, b_st_id, b_name, b_num_trades, b_comm_total }
    customer_account [ca_id] { ca_id, ca_b_id, ca_c_id, ca_name, ca_tax_st, ca_bal }
    account_permission [ap_ca_id, ap_tax_id] { ap_ca_id, ap_acl, ap_tax_id, ap_l_name, ap_f_name }
    watch_list [wl_id] { wl_id, wl_c_id }
    watch_item [wi_wl_id, wi_s_symb] { wi_wl_id, wi_s_symb }
    trade [t_id] {
        t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty, t_bid_price, t_ca_id, t_exec_name, t_trade_price,
        t_chrg, t_comm, t_tax, t_lifo,
    }
    trade_history [th_t_id, th_st_id] { th_t_id, th_dts, th_st_id }
    settlement [se_t_id] { se_t_id, se_cash_type, se_cash_due_date, se_amt }
    cash_transaction [ct_t_id] { ct_t_id, ct_dts, ct_amt, ct_name }
    holding_summary [hs_ca_id, hs_s_symb] { hs_ca_id, hs_s_symb, hs_qty }
    holding [h_t_id] { h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty }
    holding_history [hh_h_t_id, hh_t_id] { hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty }
    trade_request [tr_t_id] { tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price, tr_b_id }
}
