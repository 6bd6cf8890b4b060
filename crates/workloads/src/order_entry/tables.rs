//! The nine tables: names, columns in the order in which rows are made, and unique keys.

use crate::dataset::Table;
use std::borrow::Cow;

pub const ITEM: Table =
    Table { name: Cow::Borrowed("item"), columns: &["i_id", "i_im_id", "i_name", "i_price", "i_data"], key: &["i_id"] };

pub const WAREHOUSE: Table = Table {
    name: Cow::Borrowed("warehouse"),
    columns: &["w_id", "w_name", "w_street_1", "w_street_2", "w_city", "w_state", "w_zip", "w_tax", "w_ytd"],
    key: &["w_id"],
};

pub const DISTRICT: Table = Table {
    name: Cow::Borrowed("district"),
    columns: &[
        "d_w_id",
        "d_id",
        "d_name",
        "d_street_1",
        "d_street_2",
        "d_city",
        "d_state",
        "d_zip",
        "d_tax",
        "d_ytd",
        "d_next_o_id",
    ],
    key: &["d_w_id", "d_id"],
};

pub const STOCK: Table = Table {
    name: Cow::Borrowed("stock"),
    columns: &[
        "s_w_id",
        "s_i_id",
        "s_quantity",
        "s_dist_01",
        "s_dist_02",
        "s_dist_03",
        "s_dist_04",
        "s_dist_05",
        "s_dist_06",
        "s_dist_07",
        "s_dist_08",
        "s_dist_09",
        "s_dist_10",
        "s_ytd",
        "s_order_cnt",
        "s_remote_cnt",
        "s_data",
    ],
    key: &["s_w_id", "s_i_id"],
};

pub const CUSTOMER: Table = Table {
    name: Cow::Borrowed("customer"),
    columns: &[
        "c_w_id",
        "c_d_id",
        "c_id",
        "c_first",
        "c_middle",
        "c_last",
        "c_street_1",
        "c_street_2",
        "c_city",
        "c_state",
        "c_zip",
        "c_phone",
        "c_since",
        "c_credit",
        "c_credit_lim",
        "c_discount",
        "c_balance",
        "c_ytd_payment",
        "c_payment_cnt",
        "c_delivery_cnt",
        "c_data",
    ],
    key: &["c_w_id", "c_d_id", "c_id"],
};

pub const HISTORY: Table = Table {
    name: Cow::Borrowed("history"),
    columns: &["h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id", "h_date", "h_amount", "h_data"],
    key: &[],
};

pub const ORDERS: Table = Table {
    name: Cow::Borrowed("orders"),
    columns: &["o_w_id", "o_d_id", "o_id", "o_c_id", "o_entry_d", "o_carrier_id", "o_ol_cnt", "o_all_local"],
    key: &["o_w_id", "o_d_id", "o_id"],
};

pub const ORDER_LINE: Table = Table {
    name: Cow::Borrowed("order_line"),
    columns: &[
        "ol_w_id",
        "ol_d_id",
        "ol_o_id",
        "ol_number",
        "ol_i_id",
        "ol_supply_w_id",
        "ol_delivery_d",
        "ol_quantity",
        "ol_amount",
        "ol_dist_info",
    ],
    key: &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
};

pub const NEW_ORDER: Table = Table {
    name: Cow::Borrowed("new_order"),
    columns: &["no_w_id", "no_d_id", "no_o_id"],
    key: &["no_w_id", "no_d_id", "no_o_id"],
};

/// In the order of loading: small ones first, so that mistakes show early.
pub const TABLES: &[Table] = &[WAREHOUSE, DISTRICT, ITEM, CUSTOMER, HISTORY, ORDERS, NEW_ORDER, ORDER_LINE, STOCK];
