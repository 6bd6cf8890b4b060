-- Conditions on the data. Each query returns the keys of rows that violate its condition. No row means that it holds. {orders} is
-- the number of orders that were loaded.

-- statement: order-totals
SELECT o_orderkey FROM orders
JOIN (
    SELECT l_orderkey,
        SUM(FLOOR(FLOOR(l_extendedprice * 100 * (1 - l_discount)) * (1 + l_tax))) AS cents
    FROM lineitem GROUP BY l_orderkey) l ON l_orderkey = o_orderkey
WHERE o_totalprice * 100 <> cents;

-- statement: order-lines
SELECT o_orderkey FROM orders
LEFT JOIN (
    SELECT l_orderkey, COUNT(*) AS found, MIN(l_linenumber) AS lowest, MAX(l_linenumber) AS highest
    FROM lineitem GROUP BY l_orderkey) l ON l_orderkey = o_orderkey
WHERE found IS NULL OR lowest <> 1 OR highest <> found OR found > 7;

-- statement: order-status
SELECT o_orderkey FROM orders
JOIN (
    SELECT l_orderkey, MIN(l_linestatus) AS lowest, MAX(l_linestatus) AS highest
    FROM lineitem GROUP BY l_orderkey) l ON l_orderkey = o_orderkey
WHERE o_orderstatus <> CASE WHEN lowest = highest THEN lowest ELSE 'P' END;

-- statement: order-customers
SELECT o_orderkey FROM orders LEFT JOIN customer ON c_custkey = o_custkey WHERE c_custkey IS NULL OR o_custkey % 3 = 0;

-- Of 32 keys that follow each other, loading gives the first eight, and refresh sets the next eight.
-- statement: order-keys
SELECT o_orderkey FROM orders WHERE o_orderkey <= 0 OR o_orderkey % 32 > 15 OR o_orderkey >= 4 * {orders} + 32;

-- statement: line-orders
SELECT l_orderkey, l_linenumber FROM lineitem LEFT JOIN orders ON o_orderkey = l_orderkey WHERE o_orderkey IS NULL;

-- statement: line-offers
SELECT l_orderkey, l_linenumber FROM lineitem
LEFT JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
WHERE ps_partkey IS NULL;

-- statement: line-prices
SELECT l_orderkey, l_linenumber FROM lineitem JOIN part ON p_partkey = l_partkey
WHERE l_extendedprice <> l_quantity * p_retailprice;

-- statement: line-dates
SELECT l_orderkey, l_linenumber FROM lineitem JOIN orders ON o_orderkey = l_orderkey
WHERE l_shipdate <= o_orderdate OR l_receiptdate <= l_shipdate OR l_commitdate <= o_orderdate;

-- statement: offers
SELECT ps_partkey, ps_suppkey FROM partsupp
LEFT JOIN part ON p_partkey = ps_partkey
LEFT JOIN supplier ON s_suppkey = ps_suppkey
WHERE p_partkey IS NULL OR s_suppkey IS NULL;
