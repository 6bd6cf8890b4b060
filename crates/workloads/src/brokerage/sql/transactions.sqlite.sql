-- Statements that SQLite needs in another form, because it keeps dates as texts.

-- statement: change-volumes
UPDATE daily_market SET dm_vol = dm_vol + $1
WHERE dm_s_symb = $2 AND CAST(strftime('%d', dm_date) AS INTEGER) = $3;

-- statement: shift-quarters
UPDATE financial SET fi_qtr_start_date = date(fi_qtr_start_date, $1 || ' days') WHERE fi_co_id = $2;

-- statement: list-security-later
UPDATE security SET s_exch_date = date(s_exch_date, '1 day') WHERE s_symb = $1;
