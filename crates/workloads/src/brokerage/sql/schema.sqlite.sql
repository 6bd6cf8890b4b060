-- Where the key is one number, it is the row id. A new trade gets the number after the highest.

CREATE TABLE status_type (
    st_id TEXT NOT NULL, st_name TEXT NOT NULL,
    PRIMARY KEY (st_id)
) WITHOUT ROWID;

CREATE TABLE zip_code (
    zc_code TEXT NOT NULL, zc_town TEXT NOT NULL, zc_div TEXT NOT NULL,
    PRIMARY KEY (zc_code)
) WITHOUT ROWID;

CREATE TABLE taxrate (
    tx_id TEXT NOT NULL, tx_name TEXT NOT NULL, tx_rate INTEGER NOT NULL,
    PRIMARY KEY (tx_id), CHECK (tx_rate >= 0)
) WITHOUT ROWID;

CREATE TABLE address (
    ad_id INTEGER PRIMARY KEY, ad_line1 TEXT, ad_line2 TEXT, ad_zc_code TEXT NOT NULL REFERENCES zip_code (zc_code),
    ad_ctry TEXT
);

CREATE TABLE sector (
    sc_id TEXT NOT NULL, sc_name TEXT NOT NULL,
    PRIMARY KEY (sc_id)
) WITHOUT ROWID;

CREATE TABLE industry (
    in_id TEXT NOT NULL, in_name TEXT NOT NULL, in_sc_id TEXT NOT NULL REFERENCES sector (sc_id),
    PRIMARY KEY (in_id)
) WITHOUT ROWID;

CREATE TABLE exchange (
    ex_id TEXT NOT NULL, ex_name TEXT NOT NULL, ex_num_symb INTEGER NOT NULL, ex_open INTEGER NOT NULL,
    ex_close INTEGER NOT NULL, ex_desc TEXT, ex_ad_id INTEGER NOT NULL REFERENCES address (ad_id),
    PRIMARY KEY (ex_id)
) WITHOUT ROWID;

CREATE TABLE trade_type (
    tt_id TEXT NOT NULL, tt_name TEXT NOT NULL, tt_is_sell INTEGER NOT NULL, tt_is_mrkt INTEGER NOT NULL,
    PRIMARY KEY (tt_id)
) WITHOUT ROWID;

CREATE TABLE charge (
    ch_tt_id TEXT NOT NULL REFERENCES trade_type (tt_id), ch_c_tier INTEGER NOT NULL, ch_chrg INTEGER NOT NULL,
    PRIMARY KEY (ch_tt_id, ch_c_tier), CHECK (ch_c_tier IN (1, 2, 3)), CHECK (ch_chrg >= 0)
) WITHOUT ROWID;

CREATE TABLE commission_rate (
    cr_c_tier INTEGER NOT NULL, cr_tt_id TEXT NOT NULL REFERENCES trade_type (tt_id),
    cr_ex_id TEXT NOT NULL REFERENCES exchange (ex_id), cr_from_qty INTEGER NOT NULL, cr_to_qty INTEGER NOT NULL,
    cr_rate INTEGER NOT NULL,
    PRIMARY KEY (cr_c_tier, cr_tt_id, cr_ex_id, cr_from_qty), CHECK (cr_c_tier IN (1, 2, 3)),
    CHECK (cr_from_qty >= 0), CHECK (cr_to_qty > cr_from_qty), CHECK (cr_rate >= 0)
) WITHOUT ROWID;

CREATE TABLE company (
    co_id INTEGER PRIMARY KEY, co_st_id TEXT NOT NULL REFERENCES status_type (st_id), co_name TEXT NOT NULL,
    co_in_id TEXT NOT NULL REFERENCES industry (in_id), co_sp_rate TEXT NOT NULL, co_ceo TEXT NOT NULL,
    co_ad_id INTEGER NOT NULL REFERENCES address (ad_id), co_desc TEXT NOT NULL, co_open_date DATE NOT NULL
);

CREATE TABLE company_competitor (
    cp_co_id INTEGER NOT NULL REFERENCES company (co_id), cp_comp_co_id INTEGER NOT NULL REFERENCES company (co_id),
    cp_in_id TEXT NOT NULL REFERENCES industry (in_id),
    PRIMARY KEY (cp_co_id, cp_comp_co_id, cp_in_id)
) WITHOUT ROWID;

CREATE TABLE security (
    s_symb TEXT NOT NULL, s_issue TEXT NOT NULL, s_st_id TEXT NOT NULL REFERENCES status_type (st_id),
    s_name TEXT NOT NULL, s_ex_id TEXT NOT NULL REFERENCES exchange (ex_id),
    s_co_id INTEGER NOT NULL REFERENCES company (co_id), s_num_out INTEGER NOT NULL, s_start_date DATE NOT NULL,
    s_exch_date DATE NOT NULL, s_pe INTEGER NOT NULL, s_52wk_high INTEGER NOT NULL, s_52wk_high_date DATE NOT NULL,
    s_52wk_low INTEGER NOT NULL, s_52wk_low_date DATE NOT NULL, s_dividend INTEGER NOT NULL, s_yield INTEGER NOT NULL,
    PRIMARY KEY (s_symb)
) WITHOUT ROWID;

CREATE TABLE daily_market (
    dm_date DATE NOT NULL, dm_s_symb TEXT NOT NULL REFERENCES security (s_symb), dm_close INTEGER NOT NULL,
    dm_high INTEGER NOT NULL, dm_low INTEGER NOT NULL, dm_vol INTEGER NOT NULL,
    PRIMARY KEY (dm_s_symb, dm_date)
) WITHOUT ROWID;

CREATE TABLE financial (
    fi_co_id INTEGER NOT NULL REFERENCES company (co_id), fi_year INTEGER NOT NULL, fi_qtr INTEGER NOT NULL,
    fi_qtr_start_date DATE NOT NULL, fi_revenue INTEGER NOT NULL, fi_net_earn INTEGER NOT NULL,
    fi_basic_eps INTEGER NOT NULL, fi_dilut_eps INTEGER NOT NULL, fi_margin INTEGER NOT NULL,
    fi_inventory INTEGER NOT NULL, fi_assets INTEGER NOT NULL, fi_liability INTEGER NOT NULL,
    fi_out_basic INTEGER NOT NULL, fi_out_dilut INTEGER NOT NULL,
    PRIMARY KEY (fi_co_id, fi_year, fi_qtr), CHECK (fi_qtr IN (1, 2, 3, 4))
) WITHOUT ROWID;

CREATE TABLE last_trade (
    lt_s_symb TEXT NOT NULL REFERENCES security (s_symb), lt_dts INTEGER NOT NULL, lt_price INTEGER NOT NULL,
    lt_open_price INTEGER NOT NULL, lt_vol INTEGER NOT NULL,
    PRIMARY KEY (lt_s_symb)
) WITHOUT ROWID;

CREATE TABLE news_item (
    ni_id INTEGER PRIMARY KEY, ni_headline TEXT NOT NULL, ni_summary TEXT NOT NULL, ni_dts INTEGER NOT NULL,
    ni_source TEXT NOT NULL, ni_author TEXT, ni_item TEXT NOT NULL
);

CREATE TABLE news_xref (
    nx_ni_id INTEGER NOT NULL REFERENCES news_item (ni_id), nx_co_id INTEGER NOT NULL REFERENCES company (co_id),
    PRIMARY KEY (nx_co_id, nx_ni_id)
) WITHOUT ROWID;

CREATE TABLE customer (
    c_id INTEGER PRIMARY KEY, c_tax_id TEXT NOT NULL, c_st_id TEXT NOT NULL REFERENCES status_type (st_id),
    c_l_name TEXT NOT NULL, c_f_name TEXT NOT NULL, c_m_name TEXT, c_gndr TEXT, c_tier INTEGER NOT NULL,
    c_dob DATE NOT NULL, c_ad_id INTEGER NOT NULL REFERENCES address (ad_id), c_ctry_1 TEXT, c_area_1 TEXT,
    c_local_1 TEXT, c_ext_1 TEXT, c_ctry_2 TEXT, c_area_2 TEXT, c_local_2 TEXT, c_ext_2 TEXT, c_ctry_3 TEXT,
    c_area_3 TEXT, c_local_3 TEXT, c_ext_3 TEXT, c_email_1 TEXT, c_email_2 TEXT,
    CHECK (c_tier IN (1, 2, 3))
);

CREATE TABLE customer_taxrate (
    cx_tx_id TEXT NOT NULL REFERENCES taxrate (tx_id), cx_c_id INTEGER NOT NULL REFERENCES customer (c_id),
    PRIMARY KEY (cx_c_id, cx_tx_id)
) WITHOUT ROWID;

CREATE TABLE broker (
    b_id INTEGER PRIMARY KEY, b_st_id TEXT NOT NULL REFERENCES status_type (st_id), b_name TEXT NOT NULL,
    b_num_trades INTEGER NOT NULL, b_comm_total INTEGER NOT NULL
);

CREATE TABLE customer_account (
    ca_id INTEGER PRIMARY KEY, ca_b_id INTEGER NOT NULL REFERENCES broker (b_id),
    ca_c_id INTEGER NOT NULL REFERENCES customer (c_id), ca_name TEXT, ca_tax_st INTEGER NOT NULL,
    ca_bal INTEGER NOT NULL,
    CHECK (ca_tax_st IN (0, 1, 2))
);

CREATE TABLE account_permission (
    ap_ca_id INTEGER NOT NULL REFERENCES customer_account (ca_id), ap_acl TEXT NOT NULL, ap_tax_id TEXT NOT NULL,
    ap_l_name TEXT NOT NULL, ap_f_name TEXT NOT NULL,
    PRIMARY KEY (ap_ca_id, ap_tax_id)
) WITHOUT ROWID;

CREATE TABLE watch_list (wl_id INTEGER PRIMARY KEY, wl_c_id INTEGER NOT NULL REFERENCES customer (c_id));

CREATE TABLE watch_item (
    wi_wl_id INTEGER NOT NULL REFERENCES watch_list (wl_id), wi_s_symb TEXT NOT NULL REFERENCES security (s_symb),
    PRIMARY KEY (wi_wl_id, wi_s_symb)
) WITHOUT ROWID;

CREATE TABLE trade (
    t_id INTEGER PRIMARY KEY, t_dts INTEGER NOT NULL, t_st_id TEXT NOT NULL REFERENCES status_type (st_id),
    t_tt_id TEXT NOT NULL REFERENCES trade_type (tt_id), t_is_cash INTEGER NOT NULL,
    t_s_symb TEXT NOT NULL REFERENCES security (s_symb), t_qty INTEGER NOT NULL, t_bid_price INTEGER NOT NULL,
    t_ca_id INTEGER NOT NULL REFERENCES customer_account (ca_id), t_exec_name TEXT NOT NULL, t_trade_price INTEGER,
    t_chrg INTEGER NOT NULL, t_comm INTEGER NOT NULL, t_tax INTEGER NOT NULL, t_lifo INTEGER NOT NULL,
    CHECK (t_qty > 0), CHECK (t_bid_price > 0), CHECK (t_chrg >= 0), CHECK (t_comm >= 0), CHECK (t_tax >= 0)
);

CREATE TABLE trade_history (
    th_t_id INTEGER NOT NULL REFERENCES trade (t_id), th_dts INTEGER NOT NULL,
    th_st_id TEXT NOT NULL REFERENCES status_type (st_id),
    PRIMARY KEY (th_t_id, th_st_id)
) WITHOUT ROWID;

CREATE TABLE settlement (
    se_t_id INTEGER PRIMARY KEY REFERENCES trade (t_id), se_cash_type TEXT NOT NULL, se_cash_due_date DATE NOT NULL,
    se_amt INTEGER NOT NULL
);

CREATE TABLE cash_transaction (
    ct_t_id INTEGER PRIMARY KEY REFERENCES trade (t_id), ct_dts INTEGER NOT NULL, ct_amt INTEGER NOT NULL,
    ct_name TEXT
);

CREATE TABLE holding_summary (
    hs_ca_id INTEGER NOT NULL REFERENCES customer_account (ca_id),
    hs_s_symb TEXT NOT NULL REFERENCES security (s_symb), hs_qty INTEGER NOT NULL,
    PRIMARY KEY (hs_ca_id, hs_s_symb)
) WITHOUT ROWID;

CREATE TABLE holding (
    h_t_id INTEGER PRIMARY KEY REFERENCES trade (t_id), h_ca_id INTEGER NOT NULL, h_s_symb TEXT NOT NULL,
    h_dts INTEGER NOT NULL, h_price INTEGER NOT NULL, h_qty INTEGER NOT NULL,
    FOREIGN KEY (h_ca_id, h_s_symb) REFERENCES holding_summary (hs_ca_id, hs_s_symb), CHECK (h_price > 0)
);

CREATE TABLE holding_history (
    hh_h_t_id INTEGER NOT NULL REFERENCES trade (t_id), hh_t_id INTEGER NOT NULL REFERENCES trade (t_id),
    hh_before_qty INTEGER NOT NULL, hh_after_qty INTEGER NOT NULL,
    PRIMARY KEY (hh_h_t_id, hh_t_id)
) WITHOUT ROWID;

CREATE TABLE trade_request (
    tr_t_id INTEGER PRIMARY KEY REFERENCES trade (t_id), tr_tt_id TEXT NOT NULL REFERENCES trade_type (tt_id),
    tr_s_symb TEXT NOT NULL REFERENCES security (s_symb), tr_qty INTEGER NOT NULL, tr_bid_price INTEGER NOT NULL,
    tr_b_id INTEGER NOT NULL REFERENCES broker (b_id),
    CHECK (tr_qty > 0), CHECK (tr_bid_price > 0)
);
