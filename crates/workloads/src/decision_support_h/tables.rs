//! The tables: names, columns in the order in which rows are made, and unique keys. A table stands after those that it refers to.

use crate::dataset::Table;
use std::borrow::Cow;

const fn table(name: &'static str, columns: &'static [&'static str], key: &'static [&'static str]) -> Table {
    Table { name: Cow::Borrowed(name), columns, key }
}

pub const REGION: Table = table("region", &["r_regionkey", "r_name", "r_comment"], &["r_regionkey"]);

pub const NATION: Table = table("nation", &["n_nationkey", "n_name", "n_regionkey", "n_comment"], &["n_nationkey"]);

pub const SUPPLIER: Table = table(
    "supplier",
    &["s_suppkey", "s_name", "s_address", "s_nationkey", "s_phone", "s_acctbal", "s_comment"],
    &["s_suppkey"],
);

pub const CUSTOMER: Table = table(
    "customer",
    &["c_custkey", "c_name", "c_address", "c_nationkey", "c_phone", "c_acctbal", "c_mktsegment", "c_comment"],
    &["c_custkey"],
);

pub const PART: Table = table(
    "part",
    &["p_partkey", "p_name", "p_mfgr", "p_brand", "p_type", "p_size", "p_container", "p_retailprice", "p_comment"],
    &["p_partkey"],
);

pub const PARTSUPP: Table = table(
    "partsupp",
    &["ps_partkey", "ps_suppkey", "ps_availqty", "ps_supplycost", "ps_comment"],
    &["ps_partkey", "ps_suppkey"],
);

pub const ORDERS: Table = table(
    "orders",
    &[
        "o_orderkey",
        "o_custkey",
        "o_orderstatus",
        "o_totalprice",
        "o_orderdate",
        "o_orderpriority",
        "o_clerk",
        "o_shippriority",
        "o_comment",
    ],
    &["o_orderkey"],
);

pub const LINEITEM: Table = table(
    "lineitem",
    &[
        "l_orderkey",
        "l_partkey",
        "l_suppkey",
        "l_linenumber",
        "l_quantity",
        "l_extendedprice",
        "l_discount",
        "l_tax",
        "l_returnflag",
        "l_linestatus",
        "l_shipdate",
        "l_commitdate",
        "l_receiptdate",
        "l_shipinstruct",
        "l_shipmode",
        "l_comment",
    ],
    &["l_orderkey", "l_linenumber"],
);

/// Our own: how many refresh sets were inserted and deleted, in its only row.
pub const REFRESH_SETS: Table = table("refresh_sets", &["id", "inserted", "deleted"], &["id"]);

pub const TABLES: &[Table] = &[REGION, NATION, SUPPLIER, CUSTOMER, PART, PARTSUPP, ORDERS, LINEITEM, REFRESH_SETS];
