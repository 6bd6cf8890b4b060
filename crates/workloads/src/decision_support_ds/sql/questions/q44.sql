-- The goods that a store earns most from and those it earns least from, side by side. They earn more than nine tenths of what sales
-- earn that lack a certain fact.
-- statement: q44
WITH ranked AS (
    SELECT ss_item_sk, RANK() OVER (ORDER BY profit DESC) AS from_best, RANK() OVER (ORDER BY profit) AS from_worst
    FROM (
        SELECT ss_item_sk, AVG(ss_net_profit) AS profit
        FROM store_sales
        WHERE ss_store_sk = {store}
        GROUP BY ss_item_sk
        HAVING AVG(ss_net_profit) > 0.9 * (
            SELECT AVG(ss_net_profit)
            FROM store_sales
            WHERE ss_store_sk = {store} AND CASE {column} WHEN 1 THEN ss_addr_sk WHEN 2 THEN ss_cdemo_sk WHEN 3 THEN ss_customer_sk
                WHEN 4 THEN ss_hdemo_sk ELSE ss_promo_sk END IS NULL)) earned)
SELECT low.from_worst, best.i_product_name, worst.i_product_name
FROM ranked low
JOIN ranked high ON high.from_best = low.from_worst
JOIN item worst ON worst.i_item_sk = low.ss_item_sk
JOIN item best ON best.i_item_sk = high.ss_item_sk
WHERE low.from_worst < 11 AND high.from_best < 11
ORDER BY low.from_worst, best.i_product_name, worst.i_product_name
LIMIT 100;
