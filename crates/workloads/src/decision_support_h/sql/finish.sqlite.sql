-- Indexes on single keys and dates, and one on a key of two columns. None is made for a certain question.
CREATE INDEX lineitem_by_part ON lineitem (l_partkey, l_suppkey);
CREATE INDEX lineitem_by_supplier ON lineitem (l_suppkey);
CREATE INDEX lineitem_by_shipdate ON lineitem (l_shipdate);
CREATE INDEX lineitem_by_receiptdate ON lineitem (l_receiptdate);
CREATE INDEX orders_by_customer ON orders (o_custkey);
CREATE INDEX orders_by_date ON orders (o_orderdate);
CREATE INDEX partsupp_by_supplier ON partsupp (ps_suppkey);
CREATE INDEX supplier_by_nation ON supplier (s_nationkey);
CREATE INDEX customer_by_nation ON customer (c_nationkey);
CREATE INDEX nation_by_region ON nation (n_regionkey);
