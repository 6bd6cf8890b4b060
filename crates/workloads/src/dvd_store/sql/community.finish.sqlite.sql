CREATE INDEX products_by_membership_item ON products (membership_item);
CREATE INDEX reviews_by_product ON reviews (prod_id);
CREATE INDEX reviews_by_stars ON reviews (stars);
CREATE INDEX reviews_by_product_and_stars ON reviews (prod_id, stars);
CREATE INDEX reviews_helpfulness_by_review ON reviews_helpfulness (review_id);
CREATE INDEX reviews_helpfulness_by_customer ON reviews_helpfulness (customerid);
CREATE INDEX reorder_by_product ON reorder (prod_id);
