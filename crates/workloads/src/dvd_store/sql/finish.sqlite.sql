CREATE UNIQUE INDEX customers_by_username ON customers (username);
CREATE INDEX cust_hist_by_customer ON cust_hist (customerid);
CREATE INDEX orders_by_customer ON orders (customerid);
CREATE INDEX products_by_category ON products (category);
CREATE INDEX products_by_special ON products (special);
CREATE INDEX products_by_category_and_special ON products (category, special);

-- The indexes for words are tables of their own, which hold no second copy of the texts. Products do not change.
CREATE VIRTUAL TABLE products_by_actor USING fts5(actor, content = 'products', content_rowid = 'prod_id');
CREATE VIRTUAL TABLE products_by_title USING fts5(title, content = 'products', content_rowid = 'prod_id');
INSERT INTO products_by_actor (products_by_actor) VALUES ('rebuild');
INSERT INTO products_by_title (products_by_title) VALUES ('rebuild');

-- A stock that runs low is ordered again and filled up at once, so that few orders fail, however long a run is.
CREATE TRIGGER restock AFTER UPDATE ON inventory WHEN NEW.quan_in_stock < 3
BEGIN
    INSERT INTO reorder (prod_id, date_low, quan_low, date_reordered, quan_reordered, date_expected)
    VALUES (
        NEW.prod_id, date('now'), NEW.quan_in_stock, date('now'),
        CASE WHEN NEW.prod_id % 10000 = 0 THEN 2500 ELSE 250 END - NEW.quan_in_stock, date('now'));
    UPDATE inventory SET quan_in_stock = CASE WHEN prod_id % 10000 = 0 THEN 2500 ELSE 250 END
    WHERE prod_id = NEW.prod_id;
END;
