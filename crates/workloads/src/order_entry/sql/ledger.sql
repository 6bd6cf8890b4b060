-- Sums that a run changes by known amounts. Each query returns one number.

-- statement: order-numbers
SELECT SUM(d_next_o_id) FROM district;

-- statement: warehouse
SELECT COUNT(*) FROM warehouse;

-- statement: district
SELECT COUNT(*) FROM district;

-- statement: customer
SELECT COUNT(*) FROM customer;

-- statement: history
SELECT COUNT(*) FROM history;

-- statement: orders
SELECT COUNT(*) FROM orders;

-- statement: new_order
SELECT COUNT(*) FROM new_order;

-- statement: order_line
SELECT COUNT(*) FROM order_line;

-- statement: item
SELECT COUNT(*) FROM item;

-- statement: stock
SELECT COUNT(*) FROM stock;

-- statement: customer-deliveries
SELECT SUM(c_delivery_cnt) FROM customer;

-- Each order takes a quantity from a stock, and 91 are added when it runs low. So the sum of what is left and what was taken
-- stays the same, except for multiples of 91. The stocks have different weights, so that two mistakes cannot cancel out.
-- statement: stock-quantities
SELECT SUM((s_quantity + s_ytd) % 91 * s_i_id) FROM stock;
