//! The tables. A table stands after those that it refers to.

use crate::dataset::tables;

tables! {
    region [r_regionkey] { r_regionkey, r_name, r_comment }
    nation [n_nationkey] { n_nationkey, n_name, n_regionkey, n_comment }
    supplier [s_suppkey] { s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment }
    customer [c_custkey] {
        c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment,
    }
    part [p_partkey] {
        p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment,
    }
    partsupp [ps_partkey, ps_suppkey] { ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment }
    orders [o_orderkey] {
        o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority,
        o_comment,
    }
    lineitem [l_orderkey, l_linenumber] {
        l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag,
        l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment,
    }
    // Our own: how many refresh sets were inserted and deleted, in its only row.
    refresh_sets [id] { id, inserted, deleted }
}
