-- Memberships, reviews and ratings, which version 3 has. Searches by words are SQLite's.

-- It changes nothing for a customer that is a member already.
-- statement: become-member
INSERT INTO membership (customerid, membershiptype, expiredate) VALUES ($1, $2, $3)
ON CONFLICT (customerid) DO NOTHING;

-- $1 a word, $2 how many reviews are looked at, $3 how many are returned. Texts are read only of those that are returned.
-- statement: reviews-by-actor
SELECT r.prod_id, title, actor, r.review_id, review_date, stars, r.customerid, review_summary, review_text, total
FROM (
    SELECT found.review_id, SUM(helpfulness) AS total
    FROM (
        SELECT review_id
        FROM products_by_actor
        JOIN products p ON p.prod_id = products_by_actor.rowid
        JOIN reviews r ON r.prod_id = p.prod_id
        WHERE products_by_actor MATCH $1
        LIMIT $2) found
    JOIN reviews_helpfulness h ON h.review_id = found.review_id
    GROUP BY found.review_id
    ORDER BY total DESC
    LIMIT $3) best
JOIN reviews r ON r.review_id = best.review_id
JOIN products p ON p.prod_id = r.prod_id
ORDER BY total DESC;

-- statement: reviews-by-title
SELECT r.prod_id, title, actor, r.review_id, review_date, stars, r.customerid, review_summary, review_text, total
FROM (
    SELECT found.review_id, SUM(helpfulness) AS total
    FROM (
        SELECT review_id
        FROM products_by_title
        JOIN products p ON p.prod_id = products_by_title.rowid
        JOIN reviews r ON r.prod_id = p.prod_id
        WHERE products_by_title MATCH $1
        LIMIT $2) found
    JOIN reviews_helpfulness h ON h.review_id = found.review_id
    GROUP BY found.review_id
    ORDER BY total DESC
    LIMIT $3) best
JOIN reviews r ON r.review_id = best.review_id
JOIN products p ON p.prod_id = r.prod_id
ORDER BY total DESC;

-- statement: product-reviews
SELECT r.review_id, prod_id, review_date, stars, r.customerid, review_summary, review_text, SUM(helpfulness) AS total
FROM reviews r JOIN reviews_helpfulness h ON h.review_id = r.review_id
WHERE prod_id = $1
GROUP BY r.review_id, prod_id, review_date, stars, r.customerid, review_summary, review_text
ORDER BY total DESC
LIMIT $2;

-- statement: product-reviews-by-stars
SELECT r.review_id, prod_id, review_date, stars, r.customerid, review_summary, review_text, SUM(helpfulness) AS total
FROM reviews r JOIN reviews_helpfulness h ON h.review_id = r.review_id
WHERE prod_id = $1 AND stars = $2
GROUP BY r.review_id, prod_id, review_date, stars, r.customerid, review_summary, review_text
ORDER BY total DESC
LIMIT $3;

-- statement: product-reviews-by-date
SELECT r.review_id, prod_id, review_date, stars, r.customerid, review_summary, review_text, SUM(helpfulness) AS total
FROM reviews r JOIN reviews_helpfulness h ON h.review_id = r.review_id
WHERE prod_id = $1
GROUP BY r.review_id, prod_id, review_date, stars, r.customerid, review_summary, review_text
ORDER BY review_date DESC
LIMIT $2;

-- statement: insert-review
INSERT INTO reviews (prod_id, review_date, stars, customerid, review_summary, review_text)
VALUES ($1, $2, $3, $4, $5, $6);

-- statement: insert-rating
INSERT INTO reviews_helpfulness (review_id, customerid, helpfulness) VALUES ($1, $2, $3);
