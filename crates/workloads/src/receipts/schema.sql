-- Without a key, so that a receipt costs as little as a row can.
CREATE TABLE bakeoff_receipts (number BIGINT NOT NULL, marks VARCHAR(32) NOT NULL);
