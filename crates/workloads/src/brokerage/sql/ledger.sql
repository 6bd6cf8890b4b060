-- Sums that a run changes by known amounts. Each query returns one number.

-- statement: trades
SELECT COUNT(*) FROM trade;

-- statement: completed
SELECT COUNT(*) FROM trade WHERE t_st_id = 'CMPT';

-- statement: pending
SELECT COUNT(*) FROM trade_request;

-- statement: submitted
SELECT COUNT(*) FROM trade WHERE t_st_id = 'SBMT';

-- statement: canceled
SELECT COUNT(*) FROM trade WHERE t_st_id = 'CNCL';

-- statement: settlements
SELECT COUNT(*) FROM settlement;

-- statement: brokered
SELECT SUM(b_num_trades) FROM broker;

-- What an account has, less all that cash trades paid into it, stays the same for each account. Accounts have different
-- weights, so that two mistakes cannot cancel out.
-- statement: balances
SELECT SUM((ca_bal - COALESCE(paid, 0)) * (ca_id % 97 + 1)) FROM customer_account
LEFT JOIN (
    SELECT t_ca_id, SUM(ct_amt) AS paid FROM cash_transaction JOIN trade ON t_id = ct_t_id GROUP BY t_ca_id) c ON t_ca_id = ca_id;
