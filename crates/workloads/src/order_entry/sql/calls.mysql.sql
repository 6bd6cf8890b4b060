-- One request for each transaction. Lists are numbers with commas between them.

-- statement: new-order
CALL new_order($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- statement: payment
CALL payment($1, $2, $3, $4, $5, $6, $7, $8);

-- statement: order-status
CALL order_status($1, $2, $3, $4);

-- statement: delivery
CALL delivery($1, $2, $3);

-- statement: stock-level
CALL stock_level($1, $2, $3);
