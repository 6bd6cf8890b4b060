-- A table is stored in the order of its primary key, and its rows are loaded in that order. Text compares by its bytes, as
-- on every other engine. The history has its own row number, because rows without a key get one from a counter that all
-- tables of the server share.

CREATE TABLE warehouse (
    w_id INTEGER NOT NULL, w_name VARCHAR(10) NOT NULL, w_street_1 VARCHAR(20) NOT NULL,
    w_street_2 VARCHAR(20) NOT NULL, w_city VARCHAR(20) NOT NULL, w_state VARCHAR(2) NOT NULL,
    w_zip VARCHAR(9) NOT NULL, w_tax INTEGER NOT NULL, w_ytd BIGINT NOT NULL,
    PRIMARY KEY (w_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE district (
    d_w_id INTEGER NOT NULL, d_id INTEGER NOT NULL, d_name VARCHAR(10) NOT NULL, d_street_1 VARCHAR(20) NOT NULL,
    d_street_2 VARCHAR(20) NOT NULL, d_city VARCHAR(20) NOT NULL, d_state VARCHAR(2) NOT NULL,
    d_zip VARCHAR(9) NOT NULL, d_tax INTEGER NOT NULL, d_ytd BIGINT NOT NULL, d_next_o_id INTEGER NOT NULL,
    PRIMARY KEY (d_w_id, d_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE customer (
    c_w_id INTEGER NOT NULL, c_d_id INTEGER NOT NULL, c_id INTEGER NOT NULL, c_first VARCHAR(16) NOT NULL,
    c_middle VARCHAR(2) NOT NULL, c_last VARCHAR(16) NOT NULL, c_street_1 VARCHAR(20) NOT NULL,
    c_street_2 VARCHAR(20) NOT NULL, c_city VARCHAR(20) NOT NULL, c_state VARCHAR(2) NOT NULL, c_zip VARCHAR(9) NOT NULL,
    c_phone VARCHAR(16) NOT NULL, c_since BIGINT NOT NULL, c_credit VARCHAR(2) NOT NULL, c_credit_lim BIGINT NOT NULL,
    c_discount INTEGER NOT NULL, c_balance BIGINT NOT NULL, c_ytd_payment BIGINT NOT NULL,
    c_payment_cnt INTEGER NOT NULL, c_delivery_cnt INTEGER NOT NULL, c_data VARCHAR(500) NOT NULL,
    PRIMARY KEY (c_w_id, c_d_id, c_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE history (
    h_id BIGINT NOT NULL AUTO_INCREMENT, h_c_id INTEGER NOT NULL, h_c_d_id INTEGER NOT NULL, h_c_w_id INTEGER NOT NULL,
    h_d_id INTEGER NOT NULL, h_w_id INTEGER NOT NULL, h_date BIGINT NOT NULL, h_amount BIGINT NOT NULL,
    h_data VARCHAR(24) NOT NULL,
    PRIMARY KEY (h_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE orders (
    o_w_id INTEGER NOT NULL, o_d_id INTEGER NOT NULL, o_id INTEGER NOT NULL, o_c_id INTEGER NOT NULL,
    o_entry_d BIGINT NOT NULL, o_carrier_id INTEGER, o_ol_cnt INTEGER NOT NULL, o_all_local INTEGER NOT NULL,
    PRIMARY KEY (o_w_id, o_d_id, o_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE new_order (
    no_w_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_o_id INTEGER NOT NULL,
    PRIMARY KEY (no_w_id, no_d_id, no_o_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE order_line (
    ol_w_id INTEGER NOT NULL, ol_d_id INTEGER NOT NULL, ol_o_id INTEGER NOT NULL, ol_number INTEGER NOT NULL,
    ol_i_id INTEGER NOT NULL, ol_supply_w_id INTEGER NOT NULL, ol_delivery_d BIGINT, ol_quantity INTEGER NOT NULL,
    ol_amount BIGINT NOT NULL, ol_dist_info VARCHAR(24) NOT NULL,
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE item (
    i_id INTEGER NOT NULL, i_im_id INTEGER NOT NULL, i_name VARCHAR(24) NOT NULL, i_price BIGINT NOT NULL,
    i_data VARCHAR(50) NOT NULL,
    PRIMARY KEY (i_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE stock (
    s_w_id INTEGER NOT NULL, s_i_id INTEGER NOT NULL, s_quantity INTEGER NOT NULL, s_dist_01 VARCHAR(24) NOT NULL,
    s_dist_02 VARCHAR(24) NOT NULL, s_dist_03 VARCHAR(24) NOT NULL, s_dist_04 VARCHAR(24) NOT NULL,
    s_dist_05 VARCHAR(24) NOT NULL, s_dist_06 VARCHAR(24) NOT NULL, s_dist_07 VARCHAR(24) NOT NULL,
    s_dist_08 VARCHAR(24) NOT NULL, s_dist_09 VARCHAR(24) NOT NULL, s_dist_10 VARCHAR(24) NOT NULL,
    s_ytd BIGINT NOT NULL, s_order_cnt INTEGER NOT NULL, s_remote_cnt INTEGER NOT NULL, s_data VARCHAR(50) NOT NULL,
    PRIMARY KEY (s_w_id, s_i_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
