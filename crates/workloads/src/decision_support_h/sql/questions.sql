-- The 22 questions. A name in braces is a value, which each dialect writes as a literal of its own, so that the server plans for it.
-- These are no values but what dialects write differently, because SQLite stores money, quantities and rates as whole hundredths:
-- {one} is 1.00, {e2}, {e4} and {e6} follow a sum of as many digits after the point, {hundredth} follows an average of hundredths,
-- and {year_of} and {as_year} stand around a date.
--
-- What all branches of an OR have in common also stands outside of it, because not every server finds it there.

-- What was sold, by the state of the lines.
-- statement: h01
SELECT l_returnflag, l_linestatus, SUM(l_quantity){e2}, SUM(l_extendedprice){e2},
    SUM(l_extendedprice * ({one} - l_discount)){e4},
    SUM(l_extendedprice * ({one} - l_discount) * ({one} + l_tax)){e6},
    AVG(l_quantity){hundredth}, AVG(l_extendedprice){hundredth}, AVG(l_discount){hundredth}, COUNT(*)
FROM lineitem
WHERE l_shipdate <= {last}
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus;

-- Who in a region offers parts of a size and metal at the least price there.
-- statement: h02
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
FROM part
JOIN partsupp ON ps_partkey = p_partkey
JOIN supplier ON s_suppkey = ps_suppkey
JOIN nation ON n_nationkey = s_nationkey
JOIN region ON r_regionkey = n_regionkey
WHERE p_size = {size} AND p_type LIKE {metal} AND r_name = {region} AND ps_supplycost = (
    SELECT MIN(offer.ps_supplycost)
    FROM partsupp offer
    JOIN supplier maker ON maker.s_suppkey = offer.ps_suppkey
    JOIN nation home ON home.n_nationkey = maker.s_nationkey
    JOIN region around ON around.r_regionkey = home.n_regionkey
    WHERE offer.ps_partkey = p_partkey AND around.r_name = {region})
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey
LIMIT 100;

-- The most valuable orders of a segment that are not shipped yet.
-- statement: h03
SELECT l_orderkey, revenue{e4}, o_orderdate, o_shippriority
FROM (
    SELECT l_orderkey, o_orderdate, o_shippriority, SUM(l_extendedprice * ({one} - l_discount)) AS revenue
    FROM customer
    JOIN orders ON o_custkey = c_custkey
    JOIN lineitem ON l_orderkey = o_orderkey
    WHERE c_mktsegment = {segment} AND o_orderdate < {day} AND l_shipdate > {day}
    GROUP BY l_orderkey, o_orderdate, o_shippriority) waiting
ORDER BY revenue DESC, o_orderdate
LIMIT 10;

-- Orders of a quarter that came late, by priority.
-- statement: h04
SELECT o_orderpriority, COUNT(*)
FROM orders
WHERE o_orderdate >= {since} AND o_orderdate < {before} AND EXISTS (
    SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority
ORDER BY o_orderpriority;

-- Sales within the nations of a region, where supplier and customer are of the same nation.
-- statement: h05
SELECT n_name, revenue{e4}
FROM (
    SELECT n_name, SUM(l_extendedprice * ({one} - l_discount)) AS revenue
    FROM region
    JOIN nation ON n_regionkey = r_regionkey
    JOIN customer ON c_nationkey = n_nationkey
    JOIN orders ON o_custkey = c_custkey
    JOIN lineitem ON l_orderkey = o_orderkey
    JOIN supplier ON s_suppkey = l_suppkey AND s_nationkey = c_nationkey
    WHERE r_name = {region} AND o_orderdate >= {since} AND o_orderdate < {before}
    GROUP BY n_name) at_home
ORDER BY revenue DESC;

-- What small discounts on small lines cost in a year.
-- statement: h06
SELECT SUM(l_extendedprice * l_discount){e4}
FROM lineitem
WHERE l_shipdate >= {since} AND l_shipdate < {before} AND l_discount BETWEEN {lowest} AND {highest} AND l_quantity < {pieces};

-- Sales between two nations, by year.
-- statement: h07
SELECT seller, buyer, shipped, SUM(volume){e4}
FROM (
    SELECT home.n_name AS seller, abroad.n_name AS buyer, {year_of}l_shipdate{as_year} AS shipped,
        l_extendedprice * ({one} - l_discount) AS volume
    FROM lineitem
    JOIN supplier ON s_suppkey = l_suppkey
    JOIN nation home ON home.n_nationkey = s_nationkey
    JOIN orders ON o_orderkey = l_orderkey
    JOIN customer ON c_custkey = o_custkey
    JOIN nation abroad ON abroad.n_nationkey = c_nationkey
    WHERE l_shipdate >= {since} AND l_shipdate < {before}
        AND home.n_name IN ({nation}, {other}) AND abroad.n_name IN ({nation}, {other}) AND home.n_name <> abroad.n_name) trade
GROUP BY seller, buyer, shipped
ORDER BY seller, buyer, shipped;

-- A nation's share of its region's market for a type of part.
-- statement: h08
SELECT ordered, 1.0 * SUM(CASE WHEN seller = {nation} THEN volume ELSE 0 END) / SUM(volume)
FROM (
    SELECT {year_of}o_orderdate{as_year} AS ordered, home.n_name AS seller, l_extendedprice * ({one} - l_discount) AS volume
    FROM part
    JOIN lineitem ON l_partkey = p_partkey
    JOIN supplier ON s_suppkey = l_suppkey
    JOIN nation home ON home.n_nationkey = s_nationkey
    JOIN orders ON o_orderkey = l_orderkey
    JOIN customer ON c_custkey = o_custkey
    JOIN nation abroad ON abroad.n_nationkey = c_nationkey
    JOIN region ON r_regionkey = abroad.n_regionkey
    WHERE p_type = {type} AND r_name = {region} AND o_orderdate >= {since} AND o_orderdate < {before}) market
GROUP BY ordered
ORDER BY ordered;

-- What suppliers of each nation earned from parts of a colour, by year.
-- statement: h09
SELECT maker, ordered, SUM(earned){e4}
FROM (
    SELECT n_name AS maker, {year_of}o_orderdate{as_year} AS ordered,
        l_extendedprice * ({one} - l_discount) - ps_supplycost * l_quantity AS earned
    FROM part
    JOIN lineitem ON l_partkey = p_partkey
    JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
    JOIN supplier ON s_suppkey = l_suppkey
    JOIN nation ON n_nationkey = s_nationkey
    JOIN orders ON o_orderkey = l_orderkey
    WHERE p_name LIKE {colour}) profit
GROUP BY maker, ordered
ORDER BY maker, ordered DESC;

-- The customers who lost most by what they sent back.
-- statement: h10
SELECT c_custkey, c_name, revenue{e4}, c_acctbal, n_name, c_address, c_phone, c_comment
FROM (
    SELECT o_custkey, SUM(l_extendedprice * ({one} - l_discount)) AS revenue
    FROM orders
    JOIN lineitem ON l_orderkey = o_orderkey
    WHERE o_orderdate >= {since} AND o_orderdate < {before} AND l_returnflag = 'R'
    GROUP BY o_custkey) sent_back
JOIN customer ON c_custkey = o_custkey
JOIN nation ON n_nationkey = c_nationkey
ORDER BY revenue DESC
LIMIT 20;

-- Parts whose stock in a nation is worth more than a share of all of it there. The value times {parts_of_all} exceeds all.
-- statement: h11
SELECT ps_partkey, worth{e2}
FROM (
    SELECT ps_partkey, SUM(ps_supplycost * ps_availqty) AS worth
    FROM nation
    JOIN supplier ON s_nationkey = n_nationkey
    JOIN partsupp ON ps_suppkey = s_suppkey
    WHERE n_name = {nation}
    GROUP BY ps_partkey) stock
WHERE worth * {parts_of_all} > (
    SELECT SUM(ps_supplycost * ps_availqty)
    FROM nation
    JOIN supplier ON s_nationkey = n_nationkey
    JOIN partsupp ON ps_suppkey = s_suppkey
    WHERE n_name = {nation})
ORDER BY worth DESC;

-- Whether lines that came late by two ways of shipping were of urgent orders.
-- statement: h12
SELECT l_shipmode, SUM(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END),
    SUM(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 0 ELSE 1 END)
FROM lineitem
JOIN orders ON o_orderkey = l_orderkey
WHERE l_shipmode IN ({mode}, {other}) AND l_receiptdate >= {since} AND l_receiptdate < {before}
    AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
GROUP BY l_shipmode
ORDER BY l_shipmode;

-- How many customers placed how many orders, leaving out those with certain words.
-- statement: h13
SELECT placed, COUNT(*) AS customers
FROM (
    SELECT c_custkey, COUNT(o_orderkey) AS placed
    FROM customer
    LEFT JOIN orders ON o_custkey = c_custkey AND o_comment NOT LIKE {words}
    GROUP BY c_custkey) counted
GROUP BY placed
ORDER BY customers DESC, placed DESC;

-- The percentage of a month's revenue that comes from promotions.
-- statement: h14
SELECT 100.0 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * ({one} - l_discount) ELSE 0 END)
    / SUM(l_extendedprice * ({one} - l_discount))
FROM lineitem
JOIN part ON p_partkey = l_partkey
WHERE l_shipdate >= {since} AND l_shipdate < {before};

-- The suppliers who sold most in a quarter.
-- statement: h15
WITH sold AS (
    SELECT l_suppkey, SUM(l_extendedprice * ({one} - l_discount)) AS revenue
    FROM lineitem
    WHERE l_shipdate >= {since} AND l_shipdate < {before}
    GROUP BY l_suppkey)
SELECT s_suppkey, s_name, s_address, s_phone, revenue{e4}
FROM sold
JOIN supplier ON s_suppkey = l_suppkey
WHERE revenue = (SELECT MAX(revenue) FROM sold)
ORDER BY s_suppkey;

-- How many suppliers nobody complained about offer each kind of part.
-- statement: h16
SELECT p_brand, p_type, p_size, COUNT(DISTINCT ps_suppkey) AS suppliers
FROM part
JOIN partsupp ON ps_partkey = p_partkey
WHERE p_brand <> {brand} AND p_type NOT LIKE {type}
    AND p_size IN ({size_1}, {size_2}, {size_3}, {size_4}, {size_5}, {size_6}, {size_7}, {size_8})
    AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')
GROUP BY p_brand, p_type, p_size
ORDER BY suppliers DESC, p_brand, p_type, p_size;

-- What lines of less than a fifth of the usual quantity of their part bring in a year, of seven.
-- statement: h17
SELECT SUM(l_extendedprice){hundredth} / 7.0
FROM part
JOIN lineitem ON l_partkey = p_partkey
WHERE p_brand = {brand} AND p_container = {container} AND 5 * l_quantity < (
    SELECT AVG(usual.l_quantity) FROM lineitem usual WHERE usual.l_partkey = p_partkey);

-- The most expensive of very large orders.
-- statement: h18
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, ordered{e2}
FROM (
    SELECT l_orderkey, SUM(l_quantity) AS ordered
    FROM lineitem
    GROUP BY l_orderkey
    HAVING SUM(l_quantity) > {pieces}) large
JOIN orders ON o_orderkey = l_orderkey
JOIN customer ON c_custkey = o_custkey
ORDER BY o_totalprice DESC, o_orderdate
LIMIT 100;

-- Revenue of parts of three brands and kinds that were flown and handed over in person. No line has the mode AIR REG.
-- statement: h19
SELECT SUM(l_extendedprice * ({one} - l_discount)){e4}
FROM lineitem
JOIN part ON p_partkey = l_partkey
WHERE l_shipinstruct = 'DELIVER IN PERSON' AND l_shipmode IN ('AIR', 'AIR REG') AND p_size >= 1
    AND p_brand IN ({brand_1}, {brand_2}, {brand_3}) AND (
    (p_brand = {brand_1} AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') AND p_size <= 5
        AND l_quantity BETWEEN {least_1} AND {most_1})
    OR (p_brand = {brand_2} AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK') AND p_size <= 10
        AND l_quantity BETWEEN {least_2} AND {most_2})
    OR (p_brand = {brand_3} AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG') AND p_size <= 15
        AND l_quantity BETWEEN {least_3} AND {most_3}));

-- Suppliers of a nation with more of a colour's parts than half of what they sold of them in a year.
-- statement: h20
SELECT s_name, s_address
FROM nation
JOIN supplier ON s_nationkey = n_nationkey
WHERE n_name = {nation} AND s_suppkey IN (
    SELECT ps_suppkey
    FROM part
    JOIN partsupp ON ps_partkey = p_partkey
    WHERE p_name LIKE {colour} AND 2 * {one} * ps_availqty > (
        SELECT SUM(l_quantity)
        FROM lineitem
        WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND l_shipdate >= {since} AND l_shipdate < {before}))
ORDER BY s_name;

-- Suppliers of a nation who alone were late with orders of several suppliers.
-- statement: h21
SELECT s_name, COUNT(*) AS kept_waiting
FROM nation
JOIN supplier ON s_nationkey = n_nationkey
JOIN lineitem late ON late.l_suppkey = s_suppkey
JOIN orders ON o_orderkey = late.l_orderkey
WHERE n_name = {nation} AND o_orderstatus = 'F' AND late.l_receiptdate > late.l_commitdate
    AND EXISTS (
        SELECT 1 FROM lineitem other WHERE other.l_orderkey = late.l_orderkey AND other.l_suppkey <> late.l_suppkey)
    AND NOT EXISTS (
        SELECT 1 FROM lineitem other
        WHERE other.l_orderkey = late.l_orderkey AND other.l_suppkey <> late.l_suppkey
            AND other.l_receiptdate > other.l_commitdate)
GROUP BY s_name
ORDER BY kept_waiting DESC, s_name
LIMIT 100;

-- Customers with more money than usual in their countries who never ordered.
-- statement: h22
SELECT country, COUNT(*), SUM(c_acctbal){e2}
FROM (
    SELECT SUBSTR(c_phone, 1, 2) AS country, c_acctbal
    FROM customer
    WHERE SUBSTR(c_phone, 1, 2) IN ({code_1}, {code_2}, {code_3}, {code_4}, {code_5}, {code_6}, {code_7})
        AND c_acctbal > (
            SELECT AVG(c_acctbal)
            FROM customer
            WHERE c_acctbal > 0
                AND SUBSTR(c_phone, 1, 2) IN ({code_1}, {code_2}, {code_3}, {code_4}, {code_5}, {code_6}, {code_7}))
        AND NOT EXISTS (SELECT 1 FROM orders WHERE o_custkey = c_custkey)) idle
GROUP BY country
ORDER BY country;
