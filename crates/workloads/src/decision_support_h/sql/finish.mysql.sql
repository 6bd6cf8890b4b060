-- Loaded references are right, and conditions check them. So the server need not check them once more, which would make it
-- copy the tables. Indexes are on single keys and dates, and one on a key of two columns. None is made for a certain question.
SET foreign_key_checks = 0;
ALTER TABLE nation
    ADD INDEX nation_by_region (n_regionkey),
    ADD CONSTRAINT nation_region FOREIGN KEY (n_regionkey) REFERENCES region (r_regionkey);
ALTER TABLE supplier
    ADD INDEX supplier_by_nation (s_nationkey),
    ADD CONSTRAINT supplier_nation FOREIGN KEY (s_nationkey) REFERENCES nation (n_nationkey);
ALTER TABLE customer
    ADD INDEX customer_by_nation (c_nationkey),
    ADD CONSTRAINT customer_nation FOREIGN KEY (c_nationkey) REFERENCES nation (n_nationkey);
ALTER TABLE partsupp
    ADD INDEX partsupp_by_supplier (ps_suppkey),
    ADD CONSTRAINT partsupp_part FOREIGN KEY (ps_partkey) REFERENCES part (p_partkey),
    ADD CONSTRAINT partsupp_supplier FOREIGN KEY (ps_suppkey) REFERENCES supplier (s_suppkey);
ALTER TABLE orders
    ADD INDEX orders_by_customer (o_custkey),
    ADD INDEX orders_by_date (o_orderdate),
    ADD CONSTRAINT orders_customer FOREIGN KEY (o_custkey) REFERENCES customer (c_custkey);
ALTER TABLE lineitem
    ADD INDEX lineitem_by_part (l_partkey, l_suppkey),
    ADD INDEX lineitem_by_supplier (l_suppkey),
    ADD INDEX lineitem_by_shipdate (l_shipdate),
    ADD INDEX lineitem_by_receiptdate (l_receiptdate),
    ADD CONSTRAINT lineitem_order FOREIGN KEY (l_orderkey) REFERENCES orders (o_orderkey),
    ADD CONSTRAINT lineitem_offer FOREIGN KEY (l_partkey, l_suppkey) REFERENCES partsupp (ps_partkey, ps_suppkey);
SET foreign_key_checks = 1;
