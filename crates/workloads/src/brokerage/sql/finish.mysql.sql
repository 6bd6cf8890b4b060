-- Loaded references are right, and conditions check them. So the server need not check them once more, which would make it
-- copy the tables. InnoDB adds an index for a foreign key that has none.
SET foreign_key_checks = 0;
ALTER TABLE address
    ADD FOREIGN KEY (ad_zc_code) REFERENCES zip_code (zc_code);
ALTER TABLE sector
    ADD INDEX sector_by_name (sc_name);
ALTER TABLE industry
    ADD INDEX industry_by_name (in_name),
    ADD FOREIGN KEY (in_sc_id) REFERENCES sector (sc_id);
ALTER TABLE exchange
    ADD FOREIGN KEY (ex_ad_id) REFERENCES address (ad_id);
ALTER TABLE charge
    ADD FOREIGN KEY (ch_tt_id) REFERENCES trade_type (tt_id);
ALTER TABLE commission_rate
    ADD FOREIGN KEY (cr_tt_id) REFERENCES trade_type (tt_id),
    ADD FOREIGN KEY (cr_ex_id) REFERENCES exchange (ex_id);
ALTER TABLE company
    ADD INDEX company_by_name (co_name),
    ADD INDEX company_by_industry (co_in_id),
    ADD FOREIGN KEY (co_st_id) REFERENCES status_type (st_id),
    ADD FOREIGN KEY (co_in_id) REFERENCES industry (in_id),
    ADD FOREIGN KEY (co_ad_id) REFERENCES address (ad_id);
ALTER TABLE company_competitor
    ADD FOREIGN KEY (cp_co_id) REFERENCES company (co_id),
    ADD FOREIGN KEY (cp_comp_co_id) REFERENCES company (co_id),
    ADD FOREIGN KEY (cp_in_id) REFERENCES industry (in_id);
ALTER TABLE security
    ADD INDEX security_by_company (s_co_id, s_issue),
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
    ADD INDEX news_xref_by_news (nx_ni_id),
    ADD FOREIGN KEY (nx_ni_id) REFERENCES news_item (ni_id),
    ADD FOREIGN KEY (nx_co_id) REFERENCES company (co_id);
ALTER TABLE customer
    ADD INDEX customer_by_tax_id (c_tax_id),
    ADD FOREIGN KEY (c_st_id) REFERENCES status_type (st_id),
    ADD FOREIGN KEY (c_ad_id) REFERENCES address (ad_id);
ALTER TABLE customer_taxrate
    ADD FOREIGN KEY (cx_tx_id) REFERENCES taxrate (tx_id),
    ADD FOREIGN KEY (cx_c_id) REFERENCES customer (c_id);
ALTER TABLE broker
    ADD INDEX broker_by_name (b_name),
    ADD FOREIGN KEY (b_st_id) REFERENCES status_type (st_id);
ALTER TABLE customer_account
    ADD INDEX customer_account_by_customer (ca_c_id),
    ADD FOREIGN KEY (ca_b_id) REFERENCES broker (b_id),
    ADD FOREIGN KEY (ca_c_id) REFERENCES customer (c_id);
ALTER TABLE account_permission
    ADD FOREIGN KEY (ap_ca_id) REFERENCES customer_account (ca_id);
ALTER TABLE watch_list
    ADD INDEX watch_list_by_customer (wl_c_id),
    ADD FOREIGN KEY (wl_c_id) REFERENCES customer (c_id);
ALTER TABLE watch_item
    ADD FOREIGN KEY (wi_wl_id) REFERENCES watch_list (wl_id),
    ADD FOREIGN KEY (wi_s_symb) REFERENCES security (s_symb);
ALTER TABLE trade
    ADD INDEX trade_by_account (t_ca_id, t_dts),
    ADD INDEX trade_by_security (t_s_symb, t_dts),
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
    ADD INDEX holding_by_account (h_ca_id, h_s_symb, h_dts),
    ADD FOREIGN KEY (h_t_id) REFERENCES trade (t_id),
    ADD FOREIGN KEY (h_ca_id, h_s_symb) REFERENCES holding_summary (hs_ca_id, hs_s_symb);
ALTER TABLE holding_history
    ADD INDEX holding_history_by_trade (hh_t_id, hh_h_t_id),
    ADD FOREIGN KEY (hh_h_t_id) REFERENCES trade (t_id),
    ADD FOREIGN KEY (hh_t_id) REFERENCES trade (t_id);
ALTER TABLE trade_request
    ADD INDEX trade_request_by_security (tr_s_symb, tr_tt_id, tr_bid_price),
    ADD INDEX trade_request_by_broker (tr_b_id, tr_s_symb),
    ADD FOREIGN KEY (tr_t_id) REFERENCES trade (t_id),
    ADD FOREIGN KEY (tr_tt_id) REFERENCES trade_type (tt_id),
    ADD FOREIGN KEY (tr_s_symb) REFERENCES security (s_symb),
    ADD FOREIGN KEY (tr_b_id) REFERENCES broker (b_id);
SET foreign_key_checks = 1;
