-- STRICT would refuse DECIMAL and DATE columns, whose declarations tell how values are stored. Where the key is one number,
-- it is the row id.

CREATE TABLE categories (category INTEGER PRIMARY KEY, categoryname TEXT NOT NULL);

CREATE TABLE products (
    prod_id INTEGER PRIMARY KEY, category INTEGER NOT NULL, title TEXT NOT NULL, actor TEXT NOT NULL,
    price DECIMAL(12, 2) NOT NULL, special INTEGER, common_prod_id INTEGER NOT NULL{membership_item}
);

CREATE TABLE inventory (prod_id INTEGER PRIMARY KEY, quan_in_stock INTEGER NOT NULL, sales INTEGER NOT NULL);

CREATE TABLE reorder (
    prod_id INTEGER NOT NULL, date_low DATE NOT NULL, quan_low INTEGER NOT NULL, date_reordered DATE, quan_reordered INTEGER,
    date_expected DATE
);

CREATE TABLE customers (
    customerid INTEGER PRIMARY KEY, firstname TEXT NOT NULL, lastname TEXT NOT NULL, address1 TEXT NOT NULL, address2 TEXT,
    city TEXT NOT NULL, state TEXT, zip TEXT, country TEXT NOT NULL, region INTEGER NOT NULL, email TEXT, phone TEXT,
    creditcardtype INTEGER NOT NULL, creditcard TEXT NOT NULL, creditcardexpiration TEXT NOT NULL, username TEXT NOT NULL,
    password TEXT NOT NULL, age INTEGER, income INTEGER, gender TEXT
);

CREATE TABLE orders (
    orderid INTEGER PRIMARY KEY, orderdate DATE NOT NULL,
    customerid INTEGER REFERENCES customers (customerid) ON DELETE SET NULL, netamount DECIMAL(12, 2) NOT NULL,
    tax DECIMAL(12, 2) NOT NULL, totalamount DECIMAL(12, 2) NOT NULL
);

CREATE TABLE orderlines (
    orderlineid INTEGER NOT NULL, orderid INTEGER NOT NULL REFERENCES orders (orderid) ON DELETE CASCADE,
    prod_id INTEGER NOT NULL, quantity INTEGER NOT NULL, orderdate DATE NOT NULL,
    PRIMARY KEY (orderid, orderlineid)
) WITHOUT ROWID;

CREATE TABLE cust_hist (
    customerid INTEGER NOT NULL REFERENCES customers (customerid) ON DELETE CASCADE, orderid INTEGER NOT NULL,
    prod_id INTEGER NOT NULL
);
