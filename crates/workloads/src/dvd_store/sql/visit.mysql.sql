-- The server reports the new customer's id with its answer. IGNORE only concerns a name that is taken: all else is checked.
-- statement: insert-customer
INSERT IGNORE INTO customers (firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
    creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19);

-- statement: browse-actor
SELECT prod_id, category, title, actor, price, special, common_prod_id FROM products
WHERE MATCH (actor) AGAINST ($1 IN BOOLEAN MODE)
LIMIT $2;

-- statement: browse-title
SELECT prod_id, category, title, actor, price, special, common_prod_id FROM products
WHERE MATCH (title) AGAINST ($1 IN BOOLEAN MODE)
LIMIT $2;
