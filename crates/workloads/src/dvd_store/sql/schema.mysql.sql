-- A table is stored in the order of its primary key, and its rows are loaded in that order. Text compares by its bytes, as
-- on every other engine; titles and actors do not, because InnoDB stores their words in small letters when it builds an index
-- from rows that exist, and then a search that tells small from capital letters finds none of them.

CREATE TABLE categories (
    category TINYINT NOT NULL, categoryname VARCHAR(50) NOT NULL, PRIMARY KEY (category)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE products (
    prod_id INTEGER NOT NULL AUTO_INCREMENT, category TINYINT NOT NULL,
    title VARCHAR(50) COLLATE utf8mb4_general_ci NOT NULL, actor VARCHAR(50) COLLATE utf8mb4_general_ci NOT NULL, price NUMERIC(12, 2) NOT NULL, special TINYINT,
    common_prod_id INTEGER NOT NULL{membership_item},
    PRIMARY KEY (prod_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE inventory (
    prod_id INTEGER NOT NULL, quan_in_stock INTEGER NOT NULL, sales INTEGER NOT NULL, PRIMARY KEY (prod_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE reorder (
    prod_id INTEGER NOT NULL, date_low DATE NOT NULL, quan_low INTEGER NOT NULL, date_reordered DATE, quan_reordered INTEGER,
    date_expected DATE
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE customers (
    customerid INTEGER NOT NULL AUTO_INCREMENT, firstname VARCHAR(50) NOT NULL, lastname VARCHAR(50) NOT NULL,
    address1 VARCHAR(50) NOT NULL, address2 VARCHAR(50), city VARCHAR(50) NOT NULL, state VARCHAR(50), zip VARCHAR(9),
    country VARCHAR(50) NOT NULL, region TINYINT NOT NULL, email VARCHAR(50), phone VARCHAR(50),
    creditcardtype INTEGER NOT NULL, creditcard VARCHAR(50) NOT NULL, creditcardexpiration VARCHAR(50) NOT NULL,
    username VARCHAR(50) NOT NULL, password VARCHAR(50) NOT NULL, age TINYINT, income INTEGER, gender VARCHAR(1),
    PRIMARY KEY (customerid)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE orders (
    orderid INTEGER NOT NULL AUTO_INCREMENT, orderdate DATE NOT NULL, customerid INTEGER,
    netamount NUMERIC(12, 2) NOT NULL, tax NUMERIC(12, 2) NOT NULL, totalamount NUMERIC(12, 2) NOT NULL,
    PRIMARY KEY (orderid)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE orderlines (
    orderlineid SMALLINT NOT NULL, orderid INTEGER NOT NULL, prod_id INTEGER NOT NULL, quantity SMALLINT NOT NULL,
    orderdate DATE NOT NULL,
    PRIMARY KEY (orderid, orderlineid)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE cust_hist (
    customerid INTEGER NOT NULL, orderid INTEGER NOT NULL, prod_id INTEGER NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
