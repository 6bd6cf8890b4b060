-- Keys, numbering and indexes are made after loading, which is faster. The inventory keeps room in its pages for updates.

CREATE TABLE categories (category SMALLINT NOT NULL, categoryname VARCHAR(50) NOT NULL);

CREATE TABLE products (
    prod_id INTEGER NOT NULL, category SMALLINT NOT NULL, title VARCHAR(50) NOT NULL, actor VARCHAR(50) NOT NULL,
    price NUMERIC(12, 2) NOT NULL, special SMALLINT, common_prod_id INTEGER NOT NULL{membership_item}
);

CREATE TABLE inventory (
    prod_id INTEGER NOT NULL, quan_in_stock INTEGER NOT NULL, sales INTEGER NOT NULL
) WITH (fillfactor = 85);

CREATE TABLE reorder (
    prod_id INTEGER NOT NULL, date_low DATE NOT NULL, quan_low INTEGER NOT NULL, date_reordered DATE, quan_reordered INTEGER,
    date_expected DATE
);

CREATE TABLE customers (
    customerid INTEGER NOT NULL, firstname VARCHAR(50) NOT NULL, lastname VARCHAR(50) NOT NULL,
    address1 VARCHAR(50) NOT NULL, address2 VARCHAR(50), city VARCHAR(50) NOT NULL, state VARCHAR(50), zip VARCHAR(9),
    country VARCHAR(50) NOT NULL, region SMALLINT NOT NULL, email VARCHAR(50), phone VARCHAR(50),
    creditcardtype INTEGER NOT NULL, creditcard VARCHAR(50) NOT NULL, creditcardexpiration VARCHAR(50) NOT NULL,
    username VARCHAR(50) NOT NULL, password VARCHAR(50) NOT NULL, age SMALLINT, income INTEGER, gender VARCHAR(1)
);

CREATE TABLE orders (
    orderid INTEGER NOT NULL, orderdate DATE NOT NULL, customerid INTEGER, netamount NUMERIC(12, 2) NOT NULL,
    tax NUMERIC(12, 2) NOT NULL, totalamount NUMERIC(12, 2) NOT NULL
);

CREATE TABLE orderlines (
    orderlineid SMALLINT NOT NULL, orderid INTEGER NOT NULL, prod_id INTEGER NOT NULL, quantity SMALLINT NOT NULL,
    orderdate DATE NOT NULL
);

CREATE TABLE cust_hist (customerid INTEGER NOT NULL, orderid INTEGER NOT NULL, prod_id INTEGER NOT NULL);
