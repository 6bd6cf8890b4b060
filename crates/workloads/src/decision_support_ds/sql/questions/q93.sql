-- What customers really paid for what they returned for a reason: for the pieces that they kept.
-- statement: q93
SELECT ss_customer_sk, SUM(kept * ss_sales_price)
FROM (
    SELECT ss_customer_sk, ss_sales_price,
        CASE WHEN sr_return_quantity IS NULL THEN ss_quantity ELSE ss_quantity - sr_return_quantity END AS kept
    FROM reason
    JOIN store_returns ON sr_reason_sk = r_reason_sk
    JOIN store_sales ON ss_item_sk = sr_item_sk AND ss_ticket_number = sr_ticket_number
    WHERE r_reason_desc = {reason}) returned
GROUP BY ss_customer_sk
ORDER BY SUM(kept * ss_sales_price) IS NOT NULL, SUM(kept * ss_sales_price), ss_customer_sk IS NOT NULL, ss_customer_sk
LIMIT 100;
