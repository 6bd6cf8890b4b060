SET foreign_key_checks = 0;
CREATE INDEX products_by_membership_item ON products (membership_item);
ALTER TABLE membership
    ADD CONSTRAINT membership_customer FOREIGN KEY (customerid) REFERENCES customers (customerid) ON DELETE CASCADE;
ALTER TABLE reviews
    ADD INDEX reviews_by_product (prod_id),
    ADD INDEX reviews_by_stars (stars),
    ADD INDEX reviews_by_product_and_stars (prod_id, stars),
    ADD INDEX reviews_by_customer (customerid),
    ADD CONSTRAINT reviews_customer FOREIGN KEY (customerid) REFERENCES customers (customerid) ON DELETE CASCADE,
    ADD CONSTRAINT reviews_product FOREIGN KEY (prod_id) REFERENCES products (prod_id) ON DELETE CASCADE;
ALTER TABLE reviews_helpfulness
    ADD INDEX reviews_helpfulness_by_review (review_id),
    ADD INDEX reviews_helpfulness_by_customer (customerid),
    ADD CONSTRAINT reviews_helpfulness_review
        FOREIGN KEY (review_id) REFERENCES reviews (review_id) ON DELETE CASCADE;
CREATE INDEX reorder_by_product ON reorder (prod_id);
SET foreign_key_checks = 1;
