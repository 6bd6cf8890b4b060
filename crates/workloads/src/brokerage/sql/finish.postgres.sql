ALTER TABLE status_type ADD PRIMARY KEY (st_id);
ALTER TABLE zip_code ADD PRIMARY KEY (zc_code);
ALTER TABLE taxrate ADD PRIMARY KEY (tx_id);
ALTER TABLE address ADD PRIMARY KEY (ad_id);
ALTER TABLE sector ADD PRIMARY KEY (sc_id);
ALTER TABLE industry ADD PRIMARY KEY (in_id);
ALTER TABLE exchange ADD PRIMARY KEY (ex_id);
ALTER TABLE trade_type ADD PRIMARY KEY (tt_id);
ALTER TABLE charge ADD PRIMARY KEY (ch_tt_id, ch_c_tier);
ALTER TABLE commission_rate ADD PRIMARY KEY (cr_c_tier, cr_tt_id, cr_ex_id, cr_from_qty);
ALTER TABLE company ADD PRIMARY KEY (co_id);
ALTER TABLE company_competitor ADD PRIMARY KEY (cp_co_id, cp_comp_co_id, cp_in_id);
ALTER TABLE security ADD PRIMARY KEY (s_symb);
ALTER TABLE daily_market ADD PRIMARY KEY (dm_s_symb, dm_date);
ALTER TABLE financial ADD PRIMARY KEY (fi_co_id, fi_year, fi_qtr);
ALTER TABLE last_trade ADD PRIMARY KEY (lt_s_symb);
ALTER TABLE news_item ADD PRIMARY KEY (ni_id);
ALTER TABLE news_xref ADD PRIMARY KEY (nx_co_id, nx_ni_id);
ALTER TABLE customer ADD PRIMARY KEY (c_id);
ALTER TABLE customer_taxrate ADD PRIMARY KEY (cx_c_id, cx_tx_id);
ALTER TABLE broker ADD PRIMARY KEY (b_id);
ALTER TABLE customer_account ADD PRIMARY KEY (ca_id);
ALTER TABLE account_permission ADD PRIMARY KEY (ap_ca_id, ap_tax_id);
ALTER TABLE watch_list ADD PRIMARY KEY (wl_id);
ALTER TABLE watch_item ADD PRIMARY KEY (wi_wl_id, wi_s_symb);
ALTER TABLE trade ADD PRIMARY KEY (t_id);
ALTER TABLE trade_history ADD PRIMARY KEY (th_t_id, th_st_id) INCLUDE (th_dts);
ALTER TABLE settlement ADD PRIMARY KEY (se_t_id);
ALTER TABLE cash_transaction ADD PRIMARY KEY (ct_t_id);
ALTER TABLE holding_summary ADD PRIMARY KEY (hs_ca_id, hs_s_symb);
ALTER TABLE holding ADD PRIMARY KEY (h_t_id);
ALTER TABLE holding_history ADD PRIMARY KEY (hh_h_t_id, hh_t_id);
ALTER TABLE trade_request ADD PRIMARY KEY (tr_t_id);

CREATE INDEX customer_by_tax_id ON customer (c_tax_id);
CREATE INDEX customer_account_by_customer ON customer_account (ca_c_id);
CREATE INDEX watch_list_by_customer ON watch_list (wl_c_id);
CREATE INDEX trade_by_account ON trade (t_ca_id, t_dts);
CREATE INDEX trade_by_security ON trade (t_s_symb, t_dts);
CREATE INDEX holding_by_account ON holding (h_ca_id, h_s_symb, h_dts);
CREATE INDEX holding_history_by_trade ON holding_history (hh_t_id, hh_h_t_id);
CREATE INDEX trade_request_by_security ON trade_request (tr_s_symb, tr_tt_id, tr_bid_price);
CREATE INDEX trade_request_by_broker ON trade_request (tr_b_id, tr_s_symb);
CREATE INDEX company_by_name ON company (co_name);
CREATE INDEX company_by_industry ON company (co_in_id);
CREATE INDEX security_by_company ON security (s_co_id, s_issue);
CREATE INDEX broker_by_name ON broker (b_name);
CREATE INDEX industry_by_name ON industry (in_name);
CREATE INDEX sector_by_name ON sector (sc_name);
CREATE INDEX news_xref_by_news ON news_xref (nx_ni_id);
-- The trades that a clean-up looks for.
CREATE INDEX trade_submitted ON trade (t_id) WHERE t_st_id = 'SBMT';

ALTER TABLE address
    ADD FOREIGN KEY (ad_zc_code) REFERENCES zip_code (zc_code);
ALTER TABLE industry
    ADD FOREIGN KEY (in_sc_id) REFERENCES sector (sc_id);
ALTER TABLE exchange
    ADD FOREIGN KEY (ex_ad_id) REFERENCES address (ad_id);
ALTER TABLE charge
    ADD FOREIGN KEY (ch_tt_id) REFERENCES trade_type (tt_id);
ALTER TABLE commission_rate
    ADD FOREIGN KEY (cr_tt_id) REFERENCES trade_type (tt_id),
    ADD FOREIGN KEY (cr_ex_id) REFERENCES exchange (ex_id);
ALTER TABLE company
    ADD FOREIGN KEY (co_st_id) REFERENCES status_type (st_id),
    ADD FOREIGN KEY (co_in_id) REFERENCES industry (in_id),
    ADD FOREIGN KEY (co_ad_id) REFERENCES address (ad_id);
ALTER TABLE company_competitor
    ADD FOREIGN KEY (cp_co_id) REFERENCES company (co_id),
    ADD FOREIGN KEY (cp_comp_co_id) REFERENCES company (co_id),
    ADD FOREIGN KEY (cp_in_id) REFERENCES industry (in_id);
ALTER TABLE security
    ADD FOREIGN KEY (s_st_id) REFERENCES status_type (st_id),
    ADD FOREIGN KEY (s_ex_id) REFERENCES exchange (ex_id),
    ADD FOREIGN KEY (s_co_id) REFERENCES company (co_id);
ALTER TABLE daily_market
    ADD FOREIGN KEY (dm_s_symb) REFERENCES security (s_symb);
ALTER TABLE financial
    ADD FOREIGN KEY (fi_co_id) REFERENCES company (co_id);
ALTER TABLE last_trade
    ADD FOREIGN KEY (lt_s_symb) REFERENCES security (s_symb);
ALTER TABLE news_xref
    ADD FOREIGN KEY (nx_ni_id) REFERENCES news_item (ni_id),
    ADD FOREIGN KEY (nx_co_id) REFERENCES company (co_id);
ALTER TABLE customer
    ADD FOREIGN KEY (c_st_id) REFERENCES status_type (st_id),
    ADD FOREIGN KEY (c_ad_id) REFERENCES address (ad_id);
ALTER TABLE customer_taxrate
    ADD FOREIGN KEY (cx_tx_id) REFERENCES taxrate (tx_id),
    ADD FOREIGN KEY (cx_c_id) REFERENCES customer (c_id);
ALTER TABLE broker
    ADD FOREIGN KEY (b_st_id) REFERENCES status_type (st_id);
ALTER TABLE customer_account
    ADD FOREIGN KEY (ca_b_id) REFERENCES broker (b_id),
    ADD FOREIGN KEY (ca_c_id) REFERENCES customer (c_id);
ALTER TABLE account_permission
    ADD FOREIGN KEY (ap_ca_id) REFERENCES customer_account (ca_id);
ALTER TABLE watch_list
    ADD FOREIGN KEY (wl_c_id) REFERENCES customer (c_id);
ALTER TABLE watch_item
    ADD FOREIGN KEY (wi_wl_id) REFERENCES watch_list (wl_id),
    ADD FOREIGN KEY (wi_s_symb) REFERENCES security (s_symb);
ALTER TABLE trade
    ADD FOREIGN KEY (t_st_id) REFERENCES status_type (st_id),
    ADD FOREIGN KEY (t_tt_id) REFERENCES trade_type (tt_id),
    ADD FOREIGN KEY (t_s_symb) REFERENCES security (s_symb),
    ADD FOREIGN KEY (t_ca_id) REFERENCES customer_account (ca_id);
ALTER TABLE trade_history
    ADD FOREIGN KEY (th_t_id) REFERENCES trade (t_id),
    ADD FOREIGN KEY (th_st_id) REFERENCES status_type (st_id);
ALTER TABLE settlement
    ADD FOREIGN KEY (se_t_id) REFERENCES trade (t_id);
ALTER TABLE cash_transaction
    ADD FOREIGN KEY (ct_t_id) REFERENCES trade (t_id);
ALTER TABLE holding_summary
    ADD FOREIGN KEY (hs_ca_id) REFERENCES customer_account (ca_id),
    ADD FOREIGN KEY (hs_s_symb) REFERENCES security (s_symb);
ALTER TABLE holding
    ADD FOREIGN KEY (h_t_id) REFERENCES trade (t_id),
    ADD FOREIGN KEY (h_ca_id, h_s_symb) REFERENCES holding_summary (hs_ca_id, hs_s_symb);
ALTER TABLE holding_history
    ADD FOREIGN KEY (hh_h_t_id) REFERENCES trade (t_id),
    ADD FOREIGN KEY (hh_t_id) REFERENCES trade (t_id);
ALTER TABLE trade_request
    ADD FOREIGN KEY (tr_t_id) REFERENCES trade (t_id),
    ADD FOREIGN KEY (tr_tt_id) REFERENCES trade_type (tt_id),
    ADD FOREIGN KEY (tr_s_symb) REFERENCES security (s_symb),
    ADD FOREIGN KEY (tr_b_id) REFERENCES broker (b_id);

ALTER TABLE trade ALTER COLUMN t_id ADD GENERATED BY DEFAULT AS IDENTITY (START WITH {next_trade});
