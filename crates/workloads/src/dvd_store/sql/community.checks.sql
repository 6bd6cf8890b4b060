-- statement: members
SELECT m.customerid FROM membership m LEFT JOIN customers c ON c.customerid = m.customerid
WHERE c.customerid IS NULL OR membershiptype NOT BETWEEN 1 AND 3;

-- statement: reviews
SELECT review_id FROM reviews r
LEFT JOIN customers c ON c.customerid = r.customerid
LEFT JOIN products p ON p.prod_id = r.prod_id
WHERE c.customerid IS NULL OR p.prod_id IS NULL OR stars NOT BETWEEN 1 AND 5;

-- statement: ratings
SELECT review_helpfulness_id FROM reviews_helpfulness h
LEFT JOIN reviews r ON r.review_id = h.review_id
LEFT JOIN customers c ON c.customerid = h.customerid
WHERE r.review_id IS NULL OR c.customerid IS NULL OR helpfulness NOT BETWEEN 1 AND 10;
