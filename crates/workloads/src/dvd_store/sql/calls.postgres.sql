-- One request each. Lists are numbers with commas between them.

-- statement: call-login
SELECT * FROM login($1, $2);

-- statement: call-purchase
SELECT * FROM purchase($1, $2, CAST('{' || $3 || '}' AS INTEGER[]), CAST('{' || $4 || '}' AS INTEGER[]));
