-- Customers who returned goods for more than 1.2 times what is usual in the store.
-- statement: q01
SELECT c_customer_id
FROM (
    SELECT customer_key, total, AVG(total) OVER (PARTITION BY store_key) AS usual
    FROM (
        SELECT sr_customer_sk AS customer_key, sr_store_sk AS store_key,
            SUM(CASE {measure} WHEN 1 THEN sr_return_amt WHEN 2 THEN sr_return_tax WHEN 3 THEN sr_return_amt_inc_tax
                WHEN 4 THEN sr_fee WHEN 5 THEN sr_refunded_cash WHEN 6 THEN sr_reversed_charge
                ELSE sr_store_credit END) AS total
        FROM date_dim
        JOIN store_returns ON sr_returned_date_sk = d_date_sk
        JOIN store ON s_store_sk = sr_store_sk
        WHERE d_year = {year} AND s_state = {state}
        GROUP BY sr_customer_sk, sr_store_sk) returned) compared
JOIN customer ON c_customer_sk = customer_key
WHERE total > 1.2 * usual
ORDER BY c_customer_id
LIMIT 100;
