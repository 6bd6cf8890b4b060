-- IGNORE only concerns a customer that is a member already: all else is checked.
-- statement: become-member
INSERT IGNORE INTO membership (customerid, membershiptype, expiredate) VALUES ($1, $2, $3);

-- statement: reviews-by-actor
SELECT r.prod_id, title, actor, r.review_id, review_date, stars, r.customerid, review_summary, review_text, total
FROM (
    SELECT found.review_id, SUM(helpfulness) AS total
    FROM (
        SELECT review_id
        FROM products p JOIN reviews r ON r.prod_id = p.prod_id
        WHERE MATCH (p.actor) AGAINST ($1 IN BOOLEAN MODE)
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
        FROM products p JOIN reviews r ON r.prod_id = p.prod_id
        WHERE MATCH (p.title) AGAINST ($1 IN BOOLEAN MODE)
        LIMIT $2) found
    JOIN reviews_helpfulness h ON h.review_id = found.review_id
    GROUP BY found.review_id
    ORDER BY total DESC
    LIMIT $3) best
JOIN reviews r ON r.review_id = best.review_id
JOIN products p ON p.prod_id = r.prod_id
ORDER BY total DESC;
