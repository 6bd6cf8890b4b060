-- The refresh functions. A set is taken before it is used, so that none is used twice.

-- statement: take-inserted
UPDATE refresh_sets SET inserted = inserted + 1 WHERE id = 1;

-- statement: take-deleted
UPDATE refresh_sets SET deleted = deleted + 1 WHERE id = 1;

-- statement: sets
SELECT inserted, deleted FROM refresh_sets WHERE id = 1;

-- statement: insert-order
INSERT INTO orders (
    o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- statement: insert-line
INSERT INTO lineitem (
    l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag,
    l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16);

-- statement: delete-lines
DELETE FROM lineitem WHERE l_orderkey = $1;

-- statement: delete-order
DELETE FROM orders WHERE o_orderkey = $1;
