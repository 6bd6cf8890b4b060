-- The statements of the transactions. Money is whole cents, moments are microseconds since 1970, rates are whole numbers.

-- Broker-volume. A shorter list of brokers repeats its last name.

-- statement: broker-volume
SELECT b_name, SUM(tr_qty * tr_bid_price) AS volume
FROM sector
JOIN industry ON in_sc_id = sc_id
JOIN company ON co_in_id = in_id
JOIN security ON s_co_id = co_id
JOIN trade_request ON tr_s_symb = s_symb
JOIN broker ON b_id = tr_b_id
WHERE sc_name = $1 AND b_name IN ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
    $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41)
GROUP BY b_name
ORDER BY volume DESC;

-- Customer-position.

-- statement: customer-of-tax-id
SELECT c_id FROM customer WHERE c_tax_id = $1;

-- statement: customer
SELECT c_st_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob, c_ad_id,
    c_ctry_1, c_area_1, c_local_1, c_ext_1, c_ctry_2, c_area_2, c_local_2, c_ext_2, c_ctry_3, c_area_3, c_local_3, c_ext_3,
    c_email_1, c_email_2
FROM customer WHERE c_id = $1;

-- Accounts without holdings are there, too.
-- statement: accounts
SELECT ca_id, ca_bal, COALESCE(SUM(hs_qty * lt_price), 0) AS assets
FROM customer_account
LEFT JOIN holding_summary ON hs_ca_id = ca_id
LEFT JOIN last_trade ON lt_s_symb = hs_s_symb
WHERE ca_c_id = $1
GROUP BY ca_id, ca_bal
ORDER BY assets, ca_id
LIMIT 10;

-- statement: account-history
SELECT t_id, t_s_symb, t_qty, st_name, th_dts
FROM (SELECT t_id, t_s_symb, t_qty FROM trade WHERE t_ca_id = $1 ORDER BY t_dts DESC, t_id DESC LIMIT 10) latest
JOIN trade_history ON th_t_id = t_id
JOIN status_type ON st_id = th_st_id
ORDER BY th_dts DESC
LIMIT 30;

-- Market-watch: what the securities of a list were worth at a date, and what they are worth now.

-- statement: change-of-watch-list
SELECT SUM(s_num_out * dm_close), SUM(s_num_out * lt_price)
FROM watch_list
JOIN watch_item ON wi_wl_id = wl_id
JOIN security ON s_symb = wi_s_symb
JOIN last_trade ON lt_s_symb = wi_s_symb
JOIN daily_market ON dm_s_symb = wi_s_symb AND dm_date = $1
WHERE wl_c_id = $2;

-- statement: change-of-industry
SELECT SUM(s_num_out * dm_close), SUM(s_num_out * lt_price)
FROM industry
JOIN company ON co_in_id = in_id
JOIN security ON s_co_id = co_id
JOIN last_trade ON lt_s_symb = s_symb
JOIN daily_market ON dm_s_symb = s_symb AND dm_date = $1
WHERE in_name = $2 AND co_id BETWEEN $3 AND $4;

-- statement: change-of-account
SELECT SUM(s_num_out * dm_close), SUM(s_num_out * lt_price)
FROM holding_summary
JOIN security ON s_symb = hs_s_symb
JOIN last_trade ON lt_s_symb = hs_s_symb
JOIN daily_market ON dm_s_symb = hs_s_symb AND dm_date = $1
WHERE hs_ca_id = $2;

-- Security-detail.

-- statement: security-detail
SELECT co_id, s_name, s_num_out, s_start_date, s_exch_date, s_pe, s_52wk_high, s_52wk_high_date, s_52wk_low, s_52wk_low_date,
    s_dividend, s_yield, co_name, co_sp_rate, co_ceo, co_desc, co_open_date, co_st_id,
    home.ad_line1, home.ad_line2, home_zip.zc_town, home_zip.zc_div, home.ad_zc_code, home.ad_ctry,
    ex_name, ex_desc, ex_open, ex_close, ex_num_symb,
    hall.ad_line1, hall.ad_line2, hall_zip.zc_town, hall_zip.zc_div, hall.ad_zc_code, hall.ad_ctry
FROM security
JOIN company ON co_id = s_co_id
JOIN address home ON home.ad_id = co_ad_id
JOIN zip_code home_zip ON home_zip.zc_code = home.ad_zc_code
JOIN exchange ON ex_id = s_ex_id
JOIN address hall ON hall.ad_id = ex_ad_id
JOIN zip_code hall_zip ON hall_zip.zc_code = hall.ad_zc_code
WHERE s_symb = $1;

-- statement: competitors
SELECT co_name, in_name
FROM company_competitor
JOIN company ON co_id = cp_comp_co_id
JOIN industry ON in_id = cp_in_id
WHERE cp_co_id = $1
LIMIT 3;

-- statement: financials
SELECT fi_year, fi_qtr, fi_qtr_start_date, fi_revenue, fi_net_earn, fi_basic_eps, fi_dilut_eps, fi_margin, fi_inventory,
    fi_assets, fi_liability, fi_out_basic, fi_out_dilut
FROM financial WHERE fi_co_id = $1
ORDER BY fi_year, fi_qtr
LIMIT 20;

-- statement: daily-market
SELECT dm_date, dm_close, dm_high, dm_low, dm_vol
FROM daily_market WHERE dm_s_symb = $1 AND dm_date >= $2
ORDER BY dm_date
LIMIT $3;

-- statement: last-trade
SELECT lt_price, lt_open_price, lt_vol FROM last_trade WHERE lt_s_symb = $1;

-- statement: news
SELECT ni_headline, ni_summary, ni_dts, ni_source, ni_author
FROM news_xref JOIN news_item ON ni_id = nx_ni_id
WHERE nx_co_id = $1
ORDER BY ni_id
LIMIT 2;

-- statement: whole-news
SELECT ni_item, ni_dts, ni_source, ni_author
FROM news_xref JOIN news_item ON ni_id = nx_ni_id
WHERE nx_co_id = $1
ORDER BY ni_id
LIMIT 2;

-- Trade-lookup and trade-update.

-- statement: trade
SELECT t_is_cash, t_bid_price, t_exec_name, tt_is_mrkt, t_trade_price
FROM trade JOIN trade_type ON tt_id = t_tt_id
WHERE t_id = $1;

-- statement: trades-of-account
SELECT t_id, t_is_cash, t_bid_price, t_exec_name, t_trade_price
FROM trade WHERE t_ca_id = $1 AND t_dts BETWEEN $2 AND $3
ORDER BY t_dts, t_id
LIMIT 20;

-- statement: trades-of-security
SELECT t_id, t_is_cash, t_ca_id, t_exec_name, t_trade_price, t_qty, t_dts, t_tt_id
FROM trade WHERE t_s_symb = $1 AND t_dts BETWEEN $2 AND $3
ORDER BY t_dts, t_id
LIMIT 20;

-- statement: trades-with-names
SELECT t_id, t_is_cash, t_ca_id, t_exec_name, t_trade_price, t_qty, t_dts, t_tt_id, tt_name, s_name
FROM trade
JOIN trade_type ON tt_id = t_tt_id
JOIN security ON s_symb = t_s_symb
WHERE t_s_symb = $1 AND t_dts BETWEEN $2 AND $3
ORDER BY t_dts, t_id
LIMIT 20;

-- statement: first-trade
SELECT t_id FROM trade WHERE t_ca_id = $1 AND t_dts >= $2
ORDER BY t_dts, t_id
LIMIT 1;

-- statement: holding-histories
SELECT hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty
FROM holding_history
WHERE hh_h_t_id IN (SELECT hh_h_t_id FROM holding_history WHERE hh_t_id = $1)
LIMIT 20;

-- statement: settlement
SELECT se_amt, se_cash_due_date, se_cash_type FROM settlement WHERE se_t_id = $1;

-- statement: cash
SELECT ct_amt, ct_dts, ct_name FROM cash_transaction WHERE ct_t_id = $1;

-- statement: history
SELECT th_dts, th_st_id FROM trade_history WHERE th_t_id = $1
ORDER BY th_dts
LIMIT 3;

-- Values that a trade-update is about to change.

-- statement: executor-to-change
SELECT t_exec_name FROM trade WHERE t_id = $1;

-- statement: set-executor
UPDATE trade SET t_exec_name = $1 WHERE t_id = $2;

-- statement: cash-type-to-change
SELECT se_cash_type FROM settlement WHERE se_t_id = $1;

-- statement: set-cash-type
UPDATE settlement SET se_cash_type = $1 WHERE se_t_id = $2;

-- statement: cash-name-to-change
SELECT ct_name FROM cash_transaction WHERE ct_t_id = $1;

-- statement: set-cash-name
UPDATE cash_transaction SET ct_name = $1 WHERE ct_t_id = $2;

-- Trade-status.

-- statement: latest-trades
SELECT t_id, t_dts, st_name, tt_name, t_s_symb, t_qty, t_exec_name, t_chrg, s_name, ex_name
FROM (SELECT * FROM trade WHERE t_ca_id = $1 ORDER BY t_dts DESC, t_id DESC LIMIT 50) latest
JOIN status_type ON st_id = t_st_id
JOIN trade_type ON tt_id = t_tt_id
JOIN security ON s_symb = t_s_symb
JOIN exchange ON ex_id = s_ex_id
ORDER BY t_dts DESC, t_id DESC;

-- statement: names-of-account
SELECT c_l_name, c_f_name, b_name
FROM customer_account
JOIN customer ON c_id = ca_c_id
JOIN broker ON b_id = ca_b_id
WHERE ca_id = $1;

-- Trade-order.

-- statement: account
SELECT ca_name, ca_b_id, ca_c_id, ca_tax_st FROM customer_account WHERE ca_id = $1;

-- statement: owner
SELECT c_f_name, c_l_name, c_tier, c_tax_id FROM customer WHERE c_id = $1;

-- statement: broker
SELECT b_name FROM broker WHERE b_id = $1;

-- statement: permission
SELECT ap_acl FROM account_permission
WHERE ap_ca_id = $1 AND ap_f_name = $2 AND ap_l_name = $3 AND ap_tax_id = $4;

-- statement: company-of-name
SELECT co_id FROM company WHERE co_name = $1;

-- statement: security-of-company
SELECT s_ex_id, s_name, s_symb FROM security WHERE s_co_id = $1 AND s_issue = $2;

-- statement: security
SELECT s_co_id, s_ex_id, s_name FROM security WHERE s_symb = $1;

-- statement: company
SELECT co_name FROM company WHERE co_id = $1;

-- statement: price
SELECT lt_price FROM last_trade WHERE lt_s_symb = $1;

-- statement: trade-type
SELECT tt_is_mrkt, tt_is_sell FROM trade_type WHERE tt_id = $1;

-- statement: quantity-held
SELECT hs_qty FROM holding_summary WHERE hs_ca_id = $1 AND hs_s_symb = $2;

-- statement: lots-oldest-first
SELECT h_qty, h_price FROM holding WHERE h_ca_id = $1 AND h_s_symb = $2
ORDER BY h_dts, h_t_id;

-- statement: lots-newest-first
SELECT h_qty, h_price FROM holding WHERE h_ca_id = $1 AND h_s_symb = $2
ORDER BY h_dts DESC, h_t_id DESC;

-- statement: tax-rate
SELECT SUM(tx_rate) FROM customer_taxrate JOIN taxrate ON tx_id = cx_tx_id WHERE cx_c_id = $1;

-- statement: commission-rate
SELECT cr_rate FROM commission_rate
WHERE cr_c_tier = $1 AND cr_tt_id = $2 AND cr_ex_id = $3 AND cr_from_qty <= $4 AND cr_to_qty >= $4;

-- statement: charge
SELECT ch_chrg FROM charge WHERE ch_c_tier = $1 AND ch_tt_id = $2;

-- statement: balance
SELECT ca_bal FROM customer_account WHERE ca_id = $1;

-- statement: assets
SELECT SUM(hs_qty * lt_price) FROM holding_summary JOIN last_trade ON lt_s_symb = hs_s_symb WHERE hs_ca_id = $1;

-- The database numbers trades.
-- statement: insert-trade
INSERT INTO trade (t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty, t_bid_price, t_ca_id, t_exec_name, t_trade_price,
    t_chrg, t_comm, t_tax, t_lifo)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL, $10, $11, 0, $12)
RETURNING t_id;

-- statement: insert-request
INSERT INTO trade_request (tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price, tr_b_id) VALUES ($1, $2, $3, $4, $5, $6);

-- statement: insert-history
INSERT INTO trade_history (th_t_id, th_dts, th_st_id) VALUES ($1, $2, $3);

-- Trade-result.

-- statement: ordered-trade
SELECT t_ca_id, t_tt_id, t_s_symb, t_qty, t_chrg, t_lifo, t_is_cash, tt_name, tt_is_sell
FROM trade JOIN trade_type ON tt_id = t_tt_id
WHERE t_id = $1;

-- Two results of one account follow each other from here on.
-- statement: lock-account
SELECT ca_b_id, ca_c_id, ca_tax_st FROM customer_account WHERE ca_id = $1;

-- statement: quantity-to-change
SELECT hs_qty FROM holding_summary WHERE hs_ca_id = $1 AND hs_s_symb = $2;

-- statement: lots-to-change-oldest-first
SELECT h_t_id, h_qty, h_price FROM holding WHERE h_ca_id = $1 AND h_s_symb = $2
ORDER BY h_dts, h_t_id;

-- statement: lots-to-change-newest-first
SELECT h_t_id, h_qty, h_price FROM holding WHERE h_ca_id = $1 AND h_s_symb = $2
ORDER BY h_dts DESC, h_t_id DESC;

-- statement: insert-summary
INSERT INTO holding_summary (hs_ca_id, hs_s_symb, hs_qty) VALUES ($1, $2, $3);

-- statement: update-summary
UPDATE holding_summary SET hs_qty = $1 WHERE hs_ca_id = $2 AND hs_s_symb = $3;

-- statement: delete-summary
DELETE FROM holding_summary WHERE hs_ca_id = $1 AND hs_s_symb = $2;

-- statement: insert-lot
INSERT INTO holding (h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty) VALUES ($1, $2, $3, $4, $5, $6);

-- statement: update-lot
UPDATE holding SET h_qty = $1 WHERE h_t_id = $2;

-- statement: delete-lot
DELETE FROM holding WHERE h_t_id = $1;

-- statement: insert-holding-history
INSERT INTO holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty) VALUES ($1, $2, $3, $4);

-- statement: set-tax
UPDATE trade SET t_tax = $1 WHERE t_id = $2;

-- statement: security-traded
SELECT s_ex_id, s_name FROM security WHERE s_symb = $1;

-- statement: tier
SELECT c_tier FROM customer WHERE c_id = $1;

-- statement: complete-trade
UPDATE trade SET t_comm = $1, t_dts = $2, t_st_id = $3, t_trade_price = $4 WHERE t_id = $5;

-- statement: pay-broker
UPDATE broker SET b_comm_total = b_comm_total + $1, b_num_trades = b_num_trades + 1 WHERE b_id = $2;

-- statement: insert-settlement
INSERT INTO settlement (se_t_id, se_cash_type, se_cash_due_date, se_amt) VALUES ($1, $2, $3, $4);

-- statement: change-balance
UPDATE customer_account SET ca_bal = ca_bal + $1 WHERE ca_id = $2;

-- statement: insert-cash
INSERT INTO cash_transaction (ct_t_id, ct_dts, ct_amt, ct_name) VALUES ($1, $2, $3, $4);

-- Market-feed.

-- statement: set-price
UPDATE last_trade SET lt_price = $1, lt_vol = lt_vol + $2, lt_dts = $3 WHERE lt_s_symb = $4;

-- statement: triggered-requests
SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty FROM trade_request
WHERE tr_s_symb = $1 AND ((tr_tt_id = 'TSL' AND tr_bid_price >= $2)
    OR (tr_tt_id = 'TLS' AND tr_bid_price <= $2) OR (tr_tt_id = 'TLB' AND tr_bid_price >= $2))
ORDER BY tr_t_id;

-- statement: set-status
UPDATE trade SET t_dts = $1, t_st_id = $2 WHERE t_id = $3;

-- statement: delete-request
DELETE FROM trade_request WHERE tr_t_id = $1;

-- Trade-cleanup: what trades were left over from before a moment.

-- statement: requests-left
SELECT tr_t_id FROM trade_request JOIN trade ON t_id = tr_t_id WHERE t_dts < $1
ORDER BY tr_t_id;

-- statement: trades-left
SELECT t_id FROM trade WHERE t_id >= $1 AND t_st_id = 'SBMT' AND t_dts < $2
ORDER BY t_id;

-- Data-maintenance.

-- statement: highest-permission
SELECT MAX(ap_acl) FROM account_permission WHERE ap_ca_id = $1;

-- statement: set-permission
UPDATE account_permission SET ap_acl = $1 WHERE ap_ca_id = $2 AND ap_acl = $3;

-- statement: address-of-customer
SELECT ad_id, ad_line2 FROM customer JOIN address ON ad_id = c_ad_id WHERE c_id = $1;

-- statement: address-of-company
SELECT ad_id, ad_line2 FROM company JOIN address ON ad_id = co_ad_id WHERE co_id = $1;

-- statement: set-address
UPDATE address SET ad_line2 = $1 WHERE ad_id = $2;

-- statement: rating
SELECT co_sp_rate FROM company WHERE co_id = $1;

-- statement: set-rating
UPDATE company SET co_sp_rate = $1 WHERE co_id = $2;

-- statement: mail
SELECT c_email_2 FROM customer WHERE c_id = $1;

-- statement: set-mail
UPDATE customer SET c_email_2 = $1 WHERE c_id = $2;

-- statement: country-tax
SELECT cx_tx_id FROM customer_taxrate WHERE cx_c_id = $1 AND (cx_tx_id LIKE 'US%' OR cx_tx_id LIKE 'CN%');

-- statement: set-country-tax
UPDATE customer_taxrate SET cx_tx_id = $1 WHERE cx_c_id = $2 AND cx_tx_id = $3;

-- statement: change-volumes
UPDATE daily_market SET dm_vol = dm_vol + $1
WHERE dm_s_symb = $2 AND EXTRACT(DAY FROM dm_date) = CAST($3 AS INTEGER);

-- statement: exchanges
SELECT ex_id, ex_desc FROM exchange ORDER BY ex_id;

-- statement: set-exchange
UPDATE exchange SET ex_desc = $1 WHERE ex_id = $2;

-- statement: quarters
SELECT fi_qtr_start_date FROM financial WHERE fi_co_id = $1;

-- statement: shift-quarters
UPDATE financial SET fi_qtr_start_date = fi_qtr_start_date + CAST($1 AS INTEGER) WHERE fi_co_id = $2;

-- statement: date-news-later
UPDATE news_item SET ni_dts = ni_dts + $1 WHERE ni_id IN (SELECT nx_ni_id FROM news_xref WHERE nx_co_id = $2);

-- statement: list-security-later
UPDATE security SET s_exch_date = s_exch_date + 1 WHERE s_symb = $1;

-- statement: tax-name
SELECT tx_name FROM taxrate WHERE tx_id = $1;

-- statement: set-tax-name
UPDATE taxrate SET tx_name = $1 WHERE tx_id = $2;

-- statement: watched
SELECT wi_wl_id, wi_s_symb FROM watch_list JOIN watch_item ON wi_wl_id = wl_id WHERE wl_c_id = $1
ORDER BY wi_s_symb;

-- statement: next-unwatched
SELECT MIN(s_symb) FROM security
WHERE s_symb > $1 AND s_symb NOT IN (SELECT wi_s_symb FROM watch_item WHERE wi_wl_id = $2);

-- statement: set-watched
UPDATE watch_item SET wi_s_symb = $1 WHERE wi_wl_id = $2 AND wi_s_symb = $3;
