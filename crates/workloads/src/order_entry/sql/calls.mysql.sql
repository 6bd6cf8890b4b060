-- One request for each transaction. The lines of an order are one list of lists.

-- statement: new-order
CALL new_order($1, $2, $3, $4, $5, $6);

-- statement: payment
CALL payment($1, $2, $3, $4, $5, $6, $7, $8);

-- statement: order-status
CALL order_status($1, $2, $3, $4);

-- statement: delivery
CALL delivery($1, $2, $3);

-- statement: stock-level
CALL stock_level($1, $2, $3);
