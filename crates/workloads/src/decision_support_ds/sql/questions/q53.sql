-- Quarters in which a maker sold more or less than usual of certain goods.
-- statement: q53
SELECT maker, sold, usual
FROM (
    SELECT i_manufact_id AS maker, SUM(ss_sales_price) AS sold,
        AVG(SUM(ss_sales_price)) OVER (PARTITION BY i_manufact_id) AS usual
    FROM item
    JOIN store_sales ON ss_item_sk = i_item_sk
    JOIN date_dim ON d_date_sk = ss_sold_date_sk
    JOIN store ON s_store_sk = ss_store_sk
    WHERE d_month_seq BETWEEN {month} AND {month} + 11 AND (
        (i_category IN ('Books', 'Children', 'Electronics')
            AND i_class IN ('personal', 'portable', 'reference', 'self-help')
            AND i_brand IN ('scholaramalgamalg #14', 'scholaramalgamalg #7', 'exportiunivamalg #9', 'scholaramalgamalg #9'))
        OR (i_category IN ('Women', 'Music', 'Men')
            AND i_class IN ('accessories', 'classical', 'fragrances', 'pants')
            AND i_brand IN ('amalgimporto #1', 'edu packscholar #1', 'exportiimporto #1', 'importoamalg #1')))
    GROUP BY i_manufact_id, d_qoy) quarters
WHERE usual > 0 AND 10 * ABS(sold - usual) > usual
ORDER BY usual, sold, maker IS NULL, maker
LIMIT 100;
