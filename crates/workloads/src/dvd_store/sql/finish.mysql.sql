-- Loaded references are right, and conditions check them. So the server need not check them once more, which would make it
-- copy the tables.
SET foreign_key_checks = 0;
ALTER TABLE customers ADD UNIQUE INDEX customers_by_username (username);
ALTER TABLE cust_hist
    ADD INDEX cust_hist_by_customer (customerid),
    ADD CONSTRAINT cust_hist_customer FOREIGN KEY (customerid) REFERENCES customers (customerid) ON DELETE CASCADE;
ALTER TABLE orders
    ADD INDEX orders_by_customer (customerid),
    ADD CONSTRAINT orders_customer FOREIGN KEY (customerid) REFERENCES customers (customerid) ON DELETE SET NULL;
ALTER TABLE orderlines
    ADD CONSTRAINT orderlines_order FOREIGN KEY (orderid) REFERENCES orders (orderid) ON DELETE CASCADE;
ALTER TABLE products
    ADD INDEX products_by_category (category),
    ADD INDEX products_by_special (special),
    ADD INDEX products_by_category_and_special (category, special);
CREATE FULLTEXT INDEX products_by_actor ON products (actor);
CREATE FULLTEXT INDEX products_by_title ON products (title);
SET foreign_key_checks = 1;

-- A stock that runs low is ordered again and filled up at once, so that few orders fail, however long a run is.
CREATE TRIGGER restock BEFORE UPDATE ON inventory FOR EACH ROW
BEGIN
    DECLARE full_stock INTEGER DEFAULT CASE WHEN NEW.prod_id % 10000 = 0 THEN 2500 ELSE 250 END;
    IF NEW.quan_in_stock < 3 THEN
        INSERT INTO reorder (prod_id, date_low, quan_low, date_reordered, quan_reordered, date_expected)
        VALUES (
            NEW.prod_id, CURRENT_DATE, NEW.quan_in_stock, CURRENT_DATE, full_stock - NEW.quan_in_stock, CURRENT_DATE);
        SET NEW.quan_in_stock = full_stock;
    END IF;
END;
