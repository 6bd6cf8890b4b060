-- One request for each transaction. Lists are numbers with commas between them.

-- statement: new-order
SELECT * FROM new_order($1, $2, $3, $4, $5, CAST('{' || $6 || '}' AS INTEGER[]), CAST('{' || $7 || '}' AS INTEGER[]),
    CAST('{' || $8 || '}' AS INTEGER[]), CAST('{' || $9 || '}' AS INTEGER[]));

-- statement: payment
SELECT * FROM payment($1, $2, $3, $4, $5, $6, $7, $8);

-- statement: order-status
SELECT * FROM order_status($1, $2, $3, $4);

-- statement: delivery
SELECT * FROM delivery($1, $2, $3);

-- statement: stock-level
SELECT * FROM stock_level($1, $2, $3);
