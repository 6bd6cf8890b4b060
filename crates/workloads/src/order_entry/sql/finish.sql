-- Primary keys are part of the tables. The other indexes are faster to build from all rows at once.

CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
