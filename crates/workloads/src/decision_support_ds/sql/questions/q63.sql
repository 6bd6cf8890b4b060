-- Months in which the items of a manager sold more or less than usual of certain goods.
-- statement: q63
SELECT manager, sold, usual
FROM (
    SELECT i_manager_id AS manager, SUM(ss_sales_price) AS sold,
        AVG(SUM(ss_sales_price)) OVER (PARTITION BY i_manager_id) AS usual
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
    GROUP BY i_manager_id, d_moy) months
WHERE usual > 0 AND 10 * ABS(sold - usual) > usual
ORDER BY manager IS NULL, manager, usual, sold
LIMIT 100;
