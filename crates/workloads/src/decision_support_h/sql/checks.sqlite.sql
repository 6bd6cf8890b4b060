-- Money, quantities and rates are whole hundredths, and a division of integers cuts off.

-- statement: order-totals
SELECT o_orderkey FROM orders
JOIN (
    SELECT l_orderkey, SUM(l_extendedprice * (100 - l_discount) / 100 * (100 + l_tax) / 100) AS cents
    FROM lineitem GROUP BY l_orderkey) l ON l_orderkey = o_orderkey
WHERE o_totalprice <> cents;

-- statement: line-prices
SELECT l_orderkey, l_linenumber FROM lineitem JOIN part ON p_partkey = l_partkey
WHERE l_extendedprice * 100 <> l_quantity * p_retailprice;
