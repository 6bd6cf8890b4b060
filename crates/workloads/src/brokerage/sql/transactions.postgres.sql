-- Statements that lock what they read, because the transaction is about to change it. A lock that leaves the row's key alone
-- does not hold up others that insert rows which refer to it.

-- statement: executor-to-change
SELECT t_exec_name FROM trade WHERE t_id = $1 FOR NO KEY UPDATE;

-- statement: cash-type-to-change
SELECT se_cash_type FROM settlement WHERE se_t_id = $1 FOR NO KEY UPDATE;

-- statement: cash-name-to-change
SELECT ct_name FROM cash_transaction WHERE ct_t_id = $1 FOR NO KEY UPDATE;

-- statement: lock-account
SELECT ca_b_id, ca_c_id, ca_tax_st FROM customer_account WHERE ca_id = $1 FOR NO KEY UPDATE;

-- statement: triggered-requests
SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty FROM trade_request
WHERE tr_s_symb = $1 AND ((tr_tt_id = 'TSL' AND tr_bid_price >= $2)
    OR (tr_tt_id = 'TLS' AND tr_bid_price <= $2) OR (tr_tt_id = 'TLB' AND tr_bid_price >= $2))
ORDER BY tr_t_id FOR UPDATE;

-- statement: requests-left
SELECT tr_t_id FROM trade_request JOIN trade ON t_id = tr_t_id WHERE t_dts < $1
ORDER BY tr_t_id FOR UPDATE OF trade_request;

-- statement: trades-left
SELECT t_id FROM trade WHERE t_id >= $1 AND t_st_id = 'SBMT' AND t_dts < $2
ORDER BY t_id FOR NO KEY UPDATE;
