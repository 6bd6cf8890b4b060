
CREATE TABLE membership (
    customerid INTEGER NOT NULL, membershiptype INTEGER NOT NULL, expiredate DATE NOT NULL, PRIMARY KEY (customerid)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE reviews (
    review_id INTEGER NOT NULL AUTO_INCREMENT, prod_id INTEGER NOT NULL, review_date DATE NOT NULL, stars INTEGER NOT NULL,
    customerid INTEGER NOT NULL, review_summary VARCHAR(50) NOT NULL, review_text VARCHAR(1000),
    PRIMARY KEY (review_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE reviews_helpfulness (
    review_helpfulness_id BIGINT NOT NULL AUTO_INCREMENT, review_id INTEGER NOT NULL, customerid INTEGER NOT NULL,
    helpfulness INTEGER NOT NULL,
    PRIMARY KEY (review_helpfulness_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
