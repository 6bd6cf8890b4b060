-- What every customer does, whichever way login and purchase are executed. Where files for a dialect say nothing else, these
-- are the statements of all, but for searches by words, which are SQLite's.

-- A name that is taken gives no row.
-- statement: insert-customer
INSERT INTO customers (firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
    creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
ON CONFLICT (username) DO NOTHING
RETURNING customerid;

-- statement: browse-category
SELECT prod_id, category, title, actor, price, special, common_prod_id FROM products
WHERE category = $1 AND special = 1
LIMIT $2;

-- Both words must be there.
-- statement: browse-actor
SELECT p.prod_id, category, p.title, p.actor, price, special, common_prod_id
FROM products_by_actor JOIN products p ON p.prod_id = products_by_actor.rowid
WHERE products_by_actor MATCH $1
LIMIT $2;

-- statement: browse-title
SELECT p.prod_id, category, p.title, p.actor, price, special, common_prod_id
FROM products_by_title JOIN products p ON p.prod_id = products_by_title.rowid
WHERE products_by_title MATCH $1
LIMIT $2;
