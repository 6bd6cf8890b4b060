//! The tables. A table stands after those that it refers to.

use super::settings::DvdStoreVersion;
use crate::dataset::{DataTable, tables};

tables! {
    categories [category] { category, categoryname }
    // The last column is of version 3.
    products [prod_id] { prod_id, category, title, actor, price, special, common_prod_id, membership_item }
    inventory [prod_id] { prod_id, quan_in_stock, sales }
    // It is empty until stocks run low.
    reorder [] { prod_id, date_low, quan_low, date_reordered, quan_reordered, date_expected }
    customers [customerid] {
        customerid, firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
        creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender,
    }
    orders [orderid] { orderid, orderdate, customerid, netamount, tax, totalamount }
    orderlines [orderid, orderlineid] { orderlineid, orderid, prod_id, quantity, orderdate }
    cust_hist [] { customerid, orderid, prod_id }
    membership [customerid] { customerid, membershiptype, expiredate }
    reviews [review_id] { review_id, prod_id, review_date, stars, customerid, review_summary, review_text }
    reviews_helpfulness [review_helpfulness_id] { review_helpfulness_id, review_id, customerid, helpfulness }
}

/// Tables of version 2, and columns of its products.
const OF_TWO: usize = 8;
const PRODUCTS: usize = 1;
const PRODUCT_COLUMNS_OF_TWO: usize = 7;

pub fn of(version: DvdStoreVersion) -> Vec<DataTable> {
    let mut tables = TABLES.to_vec();
    if version == DvdStoreVersion::Two {
        tables.truncate(OF_TWO);
        tables[PRODUCTS].columns = &TABLES[PRODUCTS].columns[..PRODUCT_COLUMNS_OF_TWO];
    }
    tables
}
