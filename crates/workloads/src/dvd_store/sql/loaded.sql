-- The customer loaded last. Customers that signed up since have other names.
SELECT customerid FROM customers WHERE username LIKE 'user%' ORDER BY customerid DESC LIMIT 1;
