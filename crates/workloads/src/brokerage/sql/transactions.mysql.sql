-- Statements that lock what they read, because the transaction is about to change it. A locking statement also reads the
-- newest values, at every isolation level.

-- statement: executor-to-change
SELECT t_exec_name FROM trade WHERE t_id = $1 FOR UPDATE;

-- statement: cash-type-to-change
SELECT se_cash_type FROM settlement WHERE se_t_id = $1 FOR UPDATE;

-- statement: cash-name-to-change
SELECT ct_name FROM cash_transaction WHERE ct_t_id = $1 FOR UPDATE;

-- statement: lock-account
SELECT ca_b_id, ca_c_id, ca_tax_st FROM customer_account WHERE ca_id = $1 FOR UPDATE;

-- statement: quantity-to-change
SELECT hs_qty FROM holding_summary WHERE hs_ca_id = $1 AND hs_s_symb = $2 FOR UPDATE;

-- statement: lots-to-change-oldest-first
SELECT h_t_id, h_qty, h_price FROM holding WHERE h_ca_id = $1 AND h_s_symb = $2
ORDER BY h_dts, h_t_id FOR UPDATE;

-- statement: lots-to-change-newest-first
SELECT h_t_id, h_qty, h_price FROM holding WHERE h_ca_id = $1 AND h_s_symb = $2
ORDER BY h_dts DESC, h_t_id DESC FOR UPDATE;

-- statement: triggered-requests
SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty FROM trade_request
WHERE tr_s_symb = $1 AND ((tr_tt_id = 'TSL' AND tr_bid_price >= $2)
    OR (tr_tt_id = 'TLS' AND tr_bid_price <= $2) OR (tr_tt_id = 'TLB' AND tr_bid_price >= $2))
ORDER BY tr_t_id FOR UPDATE;

-- The server reports the trade's id with its answer.
-- statement: insert-trade
INSERT INTO trade (t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty, t_bid_price, t_ca_id, t_exec_name, t_trade_price,
    t_chrg, t_comm, t_tax, t_lifo)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL, $10, $11, 0, $12);

-- statement: requests-left
SELECT tr_t_id FROM trade_request JOIN trade ON t_id = tr_t_id WHERE t_dts < $1
ORDER BY tr_t_id FOR UPDATE;

-- statement: trades-left
SELECT t_id FROM trade WHERE t_id >= $1 AND t_st_id = 'SBMT' AND t_dts < $2
ORDER BY t_id FOR UPDATE;

-- statement: change-volumes
UPDATE daily_market SET dm_vol = dm_vol + $1
WHERE dm_s_symb = $2 AND DAYOFMONTH(dm_date) = $3;

-- statement: shift-quarters
UPDATE financial SET fi_qtr_start_date = fi_qtr_start_date + INTERVAL $1 DAY WHERE fi_co_id = $2;

-- statement: list-security-later
UPDATE security SET s_exch_date = s_exch_date + INTERVAL 1 DAY WHERE s_symb = $1;
