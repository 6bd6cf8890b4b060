-- Conditions on the data. Each query returns the keys of rows that violate its condition. No row means that it holds.
-- {due} is the number of days from 1970 to the day on which a settlement is due.

-- statement: broker-trades
SELECT b_id FROM broker
LEFT JOIN (
    SELECT ca_b_id, COUNT(*) AS found FROM customer_account JOIN trade ON t_ca_id = ca_id
    WHERE t_st_id = 'CMPT' GROUP BY ca_b_id) t ON ca_b_id = b_id
WHERE b_num_trades <> COALESCE(found, 0);

-- statement: broker-commissions
SELECT b_id FROM broker
LEFT JOIN (
    SELECT ca_b_id, SUM(t_comm) AS found FROM customer_account JOIN trade ON t_ca_id = ca_id
    WHERE t_st_id = 'CMPT' GROUP BY ca_b_id) t ON ca_b_id = b_id
WHERE b_comm_total <> COALESCE(found, 0);

-- statement: holding-summaries
SELECT hs_ca_id, hs_s_symb FROM holding_summary
LEFT JOIN (
    SELECT h_ca_id, h_s_symb, SUM(h_qty) AS found FROM holding GROUP BY h_ca_id, h_s_symb) h
    ON h_ca_id = hs_ca_id AND h_s_symb = hs_s_symb
WHERE found IS NULL OR found <> hs_qty
UNION ALL
SELECT h_ca_id, h_s_symb FROM holding
LEFT JOIN holding_summary ON hs_ca_id = h_ca_id AND hs_s_symb = h_s_symb
WHERE hs_ca_id IS NULL;

-- statement: holding-signs
SELECT h_ca_id, h_s_symb FROM holding GROUP BY h_ca_id, h_s_symb HAVING MIN(h_qty) <= 0 AND MAX(h_qty) >= 0;

-- statement: holding-trades
SELECT h_t_id FROM holding LEFT JOIN trade ON t_id = h_t_id
WHERE t_id IS NULL OR t_st_id <> 'CMPT' OR t_ca_id <> h_ca_id OR t_s_symb <> h_s_symb OR t_trade_price <> h_price
    OR t_dts <> h_dts;

-- What was added to a lot and taken from it is what is left of it. It only ever gets smaller.
-- statement: holding-histories
SELECT hh_h_t_id FROM (
    SELECT hh_h_t_id, SUM(hh_after_qty - hh_before_qty) AS quantity, MIN(ABS(hh_after_qty)) AS smallest
    FROM holding_history GROUP BY hh_h_t_id) c
LEFT JOIN holding ON h_t_id = hh_h_t_id
WHERE quantity <> COALESCE(h_qty, 0) OR smallest <> ABS(COALESCE(h_qty, 0))
UNION ALL
SELECT h_t_id FROM holding LEFT JOIN holding_history ON hh_h_t_id = h_t_id WHERE hh_h_t_id IS NULL;

-- A trade closes lots of one sign, and opens at most one lot.
-- statement: traded-quantities
SELECT t_id FROM trade
JOIN trade_type ON tt_id = t_tt_id
LEFT JOIN (
    SELECT hh_t_id, SUM(hh_after_qty - hh_before_qty) AS quantity FROM holding_history GROUP BY hh_t_id) c ON hh_t_id = t_id
WHERE COALESCE(quantity, 0)
    <> CASE WHEN t_st_id <> 'CMPT' THEN 0 WHEN tt_is_sell = 1 THEN -t_qty ELSE t_qty END;

-- statement: settlements
SELECT t_id FROM trade LEFT JOIN settlement ON se_t_id = t_id
WHERE CASE WHEN t_st_id = 'CMPT' THEN 1 ELSE 0 END <> CASE WHEN se_t_id IS NULL THEN 0 ELSE 1 END;

-- statement: settlement-amounts
SELECT t_id FROM trade
JOIN trade_type ON tt_id = t_tt_id JOIN customer_account ON ca_id = t_ca_id JOIN settlement ON se_t_id = t_id
WHERE se_amt <> CASE WHEN tt_is_sell = 1 THEN 1 ELSE -1 END * t_qty * t_trade_price - t_chrg - t_comm
    - CASE WHEN ca_tax_st = 1 THEN t_tax ELSE 0 END;

-- statement: settlement-dates
SELECT t_id FROM trade JOIN settlement ON se_t_id = t_id
WHERE {due} * 86400000000 NOT BETWEEN t_dts + 86400000001 AND t_dts + 172800000000;

-- statement: cash-transactions
SELECT t_id FROM trade LEFT JOIN cash_transaction ON ct_t_id = t_id LEFT JOIN settlement ON se_t_id = t_id
WHERE CASE WHEN t_st_id = 'CMPT' AND t_is_cash = 1 THEN 1 ELSE 0 END <> CASE WHEN ct_t_id IS NULL THEN 0 ELSE 1 END
    OR ct_amt <> se_amt OR ct_dts <> t_dts;

-- A limit order has one more state than an order at the market price.
-- statement: trade-histories
SELECT t_id FROM trade
JOIN trade_type ON tt_id = t_tt_id
LEFT JOIN (SELECT th_t_id, COUNT(*) AS found FROM trade_history GROUP BY th_t_id) h ON th_t_id = t_id
WHERE COALESCE(found, 0)
    <> CASE t_st_id WHEN 'PNDG' THEN 0 WHEN 'SBMT' THEN 1 ELSE 2 END + CASE WHEN tt_is_mrkt = 1 THEN 0 ELSE 1 END;

-- statement: trade-states
SELECT t_id FROM trade LEFT JOIN trade_history ON th_t_id = t_id AND th_st_id = t_st_id
WHERE th_t_id IS NULL OR th_dts <> t_dts
UNION ALL
SELECT t_id FROM trade JOIN trade_history ON th_t_id = t_id WHERE th_dts > t_dts;

-- The market answers in the order of submission, but for five seconds. So a trade that was submitted a minute before another
-- one that has a result was forgotten. If the database is slow, all results are late, and nothing was forgotten. Every price
-- comes within a quarter of an hour, so no order waits for it twice as long.
-- statement: answers
SELECT t_id FROM trade
JOIN (
    SELECT MAX(th_dts) AS reached FROM trade_history
    JOIN (SELECT t_id AS answered FROM trade WHERE t_st_id = 'CMPT' ORDER BY t_dts DESC LIMIT 100) latest ON answered = th_t_id
    WHERE th_st_id = 'SBMT') market ON t_dts < reached - CASE t_st_id WHEN 'SBMT' THEN 65000000 ELSE 1800000000 END
WHERE t_st_id IN ('SBMT', 'PNDG');

-- statement: trade-requests
SELECT t_id FROM trade LEFT JOIN trade_request ON tr_t_id = t_id
WHERE CASE WHEN t_st_id = 'PNDG' THEN 1 ELSE 0 END <> CASE WHEN tr_t_id IS NULL THEN 0 ELSE 1 END;

-- statement: request-terms
SELECT tr_t_id FROM trade_request JOIN trade ON t_id = tr_t_id JOIN customer_account ON ca_id = t_ca_id
WHERE tr_tt_id <> t_tt_id OR tr_s_symb <> t_s_symb OR tr_qty <> t_qty OR tr_bid_price <> t_bid_price OR tr_b_id <> ca_b_id;

-- statement: trade-prices
SELECT t_id FROM trade
WHERE CASE WHEN t_st_id = 'CMPT' THEN 1 ELSE 0 END <> CASE WHEN t_trade_price IS NULL THEN 0 ELSE 1 END
    OR t_trade_price NOT BETWEEN 2000 AND 3000
    OR t_st_id = 'CMPT' AND (t_tt_id = 'TLB' AND t_trade_price > t_bid_price OR t_tt_id = 'TLS' AND t_trade_price < t_bid_price);

-- The commission is rounded to the nearest cent, half a cent up.
-- statement: trade-costs
SELECT t_id FROM trade
JOIN customer_account ON ca_id = t_ca_id JOIN customer ON c_id = ca_c_id JOIN security ON s_symb = t_s_symb
LEFT JOIN charge ON ch_tt_id = t_tt_id AND ch_c_tier = c_tier
LEFT JOIN commission_rate ON cr_c_tier = c_tier AND cr_tt_id = t_tt_id AND cr_ex_id = s_ex_id
    AND t_qty BETWEEN cr_from_qty AND cr_to_qty
WHERE t_st_id = 'CMPT' AND (ch_tt_id IS NULL OR cr_tt_id IS NULL OR t_chrg <> ch_chrg
    OR t_trade_price * t_qty * cr_rate + 5000 - 10000 * t_comm NOT BETWEEN 0 AND 9999
    OR ca_tax_st = 0 AND t_tax <> 0);

-- statement: last-trades
SELECT lt_s_symb FROM last_trade WHERE lt_price NOT BETWEEN 2000 AND 3000 OR lt_vol < 0;

-- statement: trade-references
SELECT t_id FROM trade LEFT JOIN security ON s_symb = t_s_symb LEFT JOIN customer_account ON ca_id = t_ca_id
WHERE s_symb IS NULL OR ca_id IS NULL
UNION ALL
SELECT th_t_id FROM trade_history LEFT JOIN trade ON t_id = th_t_id WHERE t_id IS NULL
UNION ALL
SELECT se_t_id FROM settlement LEFT JOIN trade ON t_id = se_t_id WHERE t_id IS NULL
UNION ALL
SELECT ct_t_id FROM cash_transaction LEFT JOIN trade ON t_id = ct_t_id WHERE t_id IS NULL
UNION ALL
SELECT tr_t_id FROM trade_request LEFT JOIN trade ON t_id = tr_t_id WHERE t_id IS NULL
UNION ALL
SELECT hh_h_t_id FROM holding_history LEFT JOIN trade ON t_id = hh_h_t_id WHERE t_id IS NULL
UNION ALL
SELECT hh_t_id FROM holding_history LEFT JOIN trade ON t_id = hh_t_id WHERE t_id IS NULL
UNION ALL
SELECT hs_ca_id FROM holding_summary
LEFT JOIN customer_account ON ca_id = hs_ca_id LEFT JOIN security ON s_symb = hs_s_symb
WHERE ca_id IS NULL OR s_symb IS NULL;

-- statement: customer-references
SELECT c_id FROM customer LEFT JOIN address ON ad_id = c_ad_id LEFT JOIN status_type ON st_id = c_st_id
WHERE ad_id IS NULL OR st_id IS NULL
UNION ALL
SELECT cx_c_id FROM customer_taxrate LEFT JOIN customer ON c_id = cx_c_id LEFT JOIN taxrate ON tx_id = cx_tx_id
WHERE c_id IS NULL OR tx_id IS NULL
UNION ALL
SELECT ca_id FROM customer_account LEFT JOIN customer ON c_id = ca_c_id LEFT JOIN broker ON b_id = ca_b_id
WHERE c_id IS NULL OR b_id IS NULL
UNION ALL
SELECT ap_ca_id FROM account_permission LEFT JOIN customer_account ON ca_id = ap_ca_id WHERE ca_id IS NULL
UNION ALL
SELECT wl_id FROM watch_list LEFT JOIN customer ON c_id = wl_c_id WHERE c_id IS NULL
UNION ALL
SELECT wi_wl_id FROM watch_item LEFT JOIN watch_list ON wl_id = wi_wl_id LEFT JOIN security ON s_symb = wi_s_symb
WHERE wl_id IS NULL OR s_symb IS NULL
UNION ALL
SELECT ad_id FROM address LEFT JOIN zip_code ON zc_code = ad_zc_code WHERE zc_code IS NULL;

-- statement: market-references
SELECT co_id FROM company
LEFT JOIN industry ON in_id = co_in_id LEFT JOIN address ON ad_id = co_ad_id LEFT JOIN sector ON sc_id = in_sc_id
WHERE in_id IS NULL OR ad_id IS NULL OR sc_id IS NULL
UNION ALL
SELECT s_co_id FROM security LEFT JOIN company ON co_id = s_co_id LEFT JOIN exchange ON ex_id = s_ex_id
LEFT JOIN last_trade ON lt_s_symb = s_symb
WHERE co_id IS NULL OR ex_id IS NULL OR lt_s_symb IS NULL
UNION ALL
SELECT cp_co_id FROM company_competitor c LEFT JOIN company o ON o.co_id = cp_co_id LEFT JOIN company p ON p.co_id = cp_comp_co_id
WHERE o.co_id IS NULL OR p.co_id IS NULL
UNION ALL
SELECT fi_co_id FROM financial LEFT JOIN company ON co_id = fi_co_id WHERE co_id IS NULL
UNION ALL
SELECT nx_ni_id FROM news_xref LEFT JOIN news_item ON ni_id = nx_ni_id LEFT JOIN company ON co_id = nx_co_id
WHERE ni_id IS NULL OR co_id IS NULL;

-- statement: owners
SELECT ca_id FROM customer_account JOIN customer ON c_id = ca_c_id
LEFT JOIN account_permission ON ap_ca_id = ca_id AND ap_tax_id = c_tax_id AND ap_l_name = c_l_name AND ap_f_name = c_f_name
WHERE ap_ca_id IS NULL;
