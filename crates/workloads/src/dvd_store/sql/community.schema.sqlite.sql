
CREATE TABLE membership (
    customerid INTEGER PRIMARY KEY REFERENCES customers (customerid) ON DELETE CASCADE, membershiptype INTEGER NOT NULL,
    expiredate DATE NOT NULL
);

CREATE TABLE reviews (
    review_id INTEGER PRIMARY KEY, prod_id INTEGER NOT NULL REFERENCES products (prod_id) ON DELETE CASCADE,
    review_date DATE NOT NULL, stars INTEGER NOT NULL,
    customerid INTEGER NOT NULL REFERENCES customers (customerid) ON DELETE CASCADE, review_summary TEXT NOT NULL,
    review_text TEXT
);

CREATE TABLE reviews_helpfulness (
    review_helpfulness_id INTEGER PRIMARY KEY,
    review_id INTEGER NOT NULL REFERENCES reviews (review_id) ON DELETE CASCADE, customerid INTEGER NOT NULL,
    helpfulness INTEGER NOT NULL
);
