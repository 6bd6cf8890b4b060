-- Primary keys, foreign keys and conditions on columns are part of the tables.

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
