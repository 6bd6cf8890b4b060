//! The tables: names, columns in the order in which rows are made, and unique keys. A table stands after those that it refers to.

use super::settings::Version;
use crate::dataset::Table;
use std::borrow::Cow;

const fn table(name: &'static str, columns: &'static [&'static str], key: &'static [&'static str]) -> Table {
    Table { name: Cow::Borrowed(name), columns, key }
}

pub const CATEGORIES: Table = table("categories", &["category", "categoryname"], &["category"]);

pub const CUSTOMERS: Table = table(
    "customers",
    &[
        "customerid",
        "firstname",
        "lastname",
        "address1",
        "address2",
        "city",
        "state",
        "zip",
        "country",
        "region",
        "email",
        "phone",
        "creditcardtype",
        "creditcard",
        "creditcardexpiration",
        "username",
        "password",
        "age",
        "income",
        "gender",
    ],
    &["customerid"],
);

const PRODUCT_COLUMNS: &[&str] =
    &["prod_id", "category", "title", "actor", "price", "special", "common_prod_id", "membership_item"];

const fn products(columns: &'static [&'static str]) -> Table {
    table("products", columns, &["prod_id"])
}

pub const INVENTORY: Table = table("inventory", &["prod_id", "quan_in_stock", "sales"], &["prod_id"]);

pub const ORDERS: Table =
    table("orders", &["orderid", "orderdate", "customerid", "netamount", "tax", "totalamount"], &["orderid"]);

pub const ORDERLINES: Table =
    table("orderlines", &["orderlineid", "orderid", "prod_id", "quantity", "orderdate"], &["orderid", "orderlineid"]);

pub const CUST_HIST: Table = table("cust_hist", &["customerid", "orderid", "prod_id"], &[]);

/// It is empty until stocks run low.
pub const REORDER: Table =
    table("reorder", &["prod_id", "date_low", "quan_low", "date_reordered", "quan_reordered", "date_expected"], &[]);

pub const MEMBERSHIP: Table = table("membership", &["customerid", "membershiptype", "expiredate"], &["customerid"]);

pub const REVIEWS: Table = table(
    "reviews",
    &["review_id", "prod_id", "review_date", "stars", "customerid", "review_summary", "review_text"],
    &["review_id"],
);

pub const HELPFULNESS: Table = table(
    "reviews_helpfulness",
    &["review_helpfulness_id", "review_id", "customerid", "helpfulness"],
    &["review_helpfulness_id"],
);

const OF_TWO: &[Table] = &[
    CATEGORIES,
    products(PRODUCT_COLUMNS.split_at(7).0),
    INVENTORY,
    REORDER,
    CUSTOMERS,
    ORDERS,
    ORDERLINES,
    CUST_HIST,
];

const OF_THREE: &[Table] = &[
    CATEGORIES,
    products(PRODUCT_COLUMNS),
    INVENTORY,
    REORDER,
    CUSTOMERS,
    ORDERS,
    ORDERLINES,
    CUST_HIST,
    MEMBERSHIP,
    REVIEWS,
    HELPFULNESS,
];

pub const fn tables(version: Version) -> &'static [Table] {
    match version {
        Version::Two => OF_TWO,
        Version::Three => OF_THREE,
    }
}
