-- One request each. Lists are numbers with commas between them.

-- statement: call-login
CALL login($1, $2);

-- statement: call-purchase
CALL purchase($1, $2, $3, $4);
