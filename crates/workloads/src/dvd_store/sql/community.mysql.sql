-- IGNORE only concerns a customer that is a member already: all else is checked.
-- statement: become-member
INSERT IGNORE INTO membership (customerid, membershiptype, expiredate) VALUES ($1, $2, $3);

-- statement: reviews-by-actor
SELECT found.prod_id, title, actor, found.review_id, review_date, stars, found.customerid, review_summary, review_text,
    SUM(helpfulness) AS total
FROM (
    SELECT p.prod_id, p.title, p.actor, review_id, review_date, stars, customerid, review_summary, review_text
    FROM products p JOIN reviews r ON r.prod_id = p.prod_id
    WHERE MATCH (p.actor) AGAINST ($1 IN BOOLEAN MODE)
    LIMIT $2) found
JOIN reviews_helpfulness h ON h.review_id = found.review_id
GROUP BY found.prod_id, title, actor, found.review_id, review_date, stars, found.customerid, review_summary, review_text
ORDER BY total DESC
LIMIT $3;

-- statement: reviews-by-title
SELECT found.prod_id, title, actor, found.review_id, review_date, stars, found.customerid, review_summary, review_text,
    SUM(helpfulness) AS total
FROM (
    SELECT p.prod_id, p.title, p.actor, review_id, review_date, stars, customerid, review_summary, review_text
    FROM products p JOIN reviews r ON r.prod_id = p.prod_id
    WHERE MATCH (p.title) AGAINST ($1 IN BOOLEAN MODE)
    LIMIT $2) found
JOIN reviews_helpfulness h ON h.review_id = found.review_id
GROUP BY found.prod_id, title, actor, found.review_id, review_date, stars, found.customerid, review_summary, review_text
ORDER BY total DESC
LIMIT $3;
