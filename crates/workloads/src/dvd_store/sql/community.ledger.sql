-- statement: members
SELECT COUNT(*) FROM membership;

-- statement: reviews
SELECT COUNT(*) FROM reviews;

-- statement: ratings
SELECT COUNT(*) FROM reviews_helpfulness;
