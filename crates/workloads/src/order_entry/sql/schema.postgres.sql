-- Rows are loaded first and keys added later (see the other file): an index is built faster from all rows than row by row.
-- Tables whose rows are updated leave room on each page, so that a new version of a row stays on the page of the old
-- one and no index has to change. Names compare by their bytes, as on every other engine.

CREATE TABLE warehouse (
    w_id INTEGER NOT NULL, w_name TEXT NOT NULL, w_street_1 TEXT NOT NULL, w_street_2 TEXT NOT NULL,
    w_city TEXT NOT NULL, w_state TEXT NOT NULL, w_zip TEXT NOT NULL, w_tax INTEGER NOT NULL, w_ytd BIGINT NOT NULL
) WITH (fillfactor = 10);

CREATE TABLE district (
    d_w_id INTEGER NOT NULL, d_id INTEGER NOT NULL, d_name TEXT NOT NULL, d_street_1 TEXT NOT NULL,
    d_street_2 TEXT NOT NULL, d_city TEXT NOT NULL, d_state TEXT NOT NULL, d_zip TEXT NOT NULL, d_tax INTEGER NOT NULL,
    d_ytd BIGINT NOT NULL, d_next_o_id INTEGER NOT NULL
) WITH (fillfactor = 10);

CREATE TABLE customer (
    c_w_id INTEGER NOT NULL, c_d_id INTEGER NOT NULL, c_id INTEGER NOT NULL, c_first TEXT COLLATE "C" NOT NULL,
    c_middle TEXT NOT NULL, c_last TEXT COLLATE "C" NOT NULL, c_street_1 TEXT NOT NULL, c_street_2 TEXT NOT NULL,
    c_city TEXT NOT NULL, c_state TEXT NOT NULL, c_zip TEXT NOT NULL, c_phone TEXT NOT NULL, c_since BIGINT NOT NULL,
    c_credit TEXT NOT NULL, c_credit_lim BIGINT NOT NULL, c_discount INTEGER NOT NULL, c_balance BIGINT NOT NULL,
    c_ytd_payment BIGINT NOT NULL, c_payment_cnt INTEGER NOT NULL, c_delivery_cnt INTEGER NOT NULL,
    c_data TEXT NOT NULL
) WITH (fillfactor = 90);

CREATE TABLE history (
    h_c_id INTEGER NOT NULL, h_c_d_id INTEGER NOT NULL, h_c_w_id INTEGER NOT NULL, h_d_id INTEGER NOT NULL,
    h_w_id INTEGER NOT NULL, h_date BIGINT NOT NULL, h_amount BIGINT NOT NULL, h_data TEXT NOT NULL
);

CREATE TABLE orders (
    o_w_id INTEGER NOT NULL, o_d_id INTEGER NOT NULL, o_id INTEGER NOT NULL, o_c_id INTEGER NOT NULL,
    o_entry_d BIGINT NOT NULL, o_carrier_id INTEGER, o_ol_cnt INTEGER NOT NULL, o_all_local INTEGER NOT NULL
) WITH (fillfactor = 90);

CREATE TABLE new_order (
    no_w_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_o_id INTEGER NOT NULL
);

CREATE TABLE order_line (
    ol_w_id INTEGER NOT NULL, ol_d_id INTEGER NOT NULL, ol_o_id INTEGER NOT NULL, ol_number INTEGER NOT NULL,
    ol_i_id INTEGER NOT NULL, ol_supply_w_id INTEGER NOT NULL, ol_delivery_d BIGINT, ol_quantity INTEGER NOT NULL,
    ol_amount BIGINT NOT NULL, ol_dist_info TEXT NOT NULL
) WITH (fillfactor = 90);

CREATE TABLE item (
    i_id INTEGER NOT NULL, i_im_id INTEGER NOT NULL, i_name TEXT NOT NULL, i_price BIGINT NOT NULL, i_data TEXT NOT NULL
);

CREATE TABLE stock (
    s_w_id INTEGER NOT NULL, s_i_id INTEGER NOT NULL, s_quantity INTEGER NOT NULL, s_dist_01 TEXT NOT NULL,
    s_dist_02 TEXT NOT NULL, s_dist_03 TEXT NOT NULL, s_dist_04 TEXT NOT NULL, s_dist_05 TEXT NOT NULL,
    s_dist_06 TEXT NOT NULL, s_dist_07 TEXT NOT NULL, s_dist_08 TEXT NOT NULL, s_dist_09 TEXT NOT NULL,
    s_dist_10 TEXT NOT NULL, s_ytd BIGINT NOT NULL, s_order_cnt INTEGER NOT NULL, s_remote_cnt INTEGER NOT NULL,
    s_data TEXT NOT NULL
) WITH (fillfactor = 90);
