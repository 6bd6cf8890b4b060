
CREATE TABLE membership (customerid INTEGER NOT NULL, membershiptype INTEGER NOT NULL, expiredate DATE NOT NULL);

CREATE TABLE reviews (
    review_id INTEGER NOT NULL, prod_id INTEGER NOT NULL, review_date DATE NOT NULL, stars SMALLINT NOT NULL,
    customerid INTEGER NOT NULL, review_summary VARCHAR(50) NOT NULL, review_text VARCHAR(1000)
);

CREATE TABLE reviews_helpfulness (
    review_helpfulness_id BIGINT NOT NULL, review_id INTEGER NOT NULL, customerid INTEGER NOT NULL,
    helpfulness SMALLINT NOT NULL
);
