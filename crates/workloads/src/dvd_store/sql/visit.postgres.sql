-- statement: browse-actor
SELECT prod_id, category, title, actor, price, special, common_prod_id FROM products
WHERE to_tsvector('simple', actor) @@ plainto_tsquery('simple', $1)
LIMIT $2;

-- statement: browse-title
SELECT prod_id, category, title, actor, price, special, common_prod_id FROM products
WHERE to_tsvector('simple', title) @@ plainto_tsquery('simple', $1)
LIMIT $2;
