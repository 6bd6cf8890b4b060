-- Amounts are whole cents.
-- statement: order-taxes
SELECT orderid FROM orders WHERE tax <> (netamount * 825 + 5000) / 10000;
