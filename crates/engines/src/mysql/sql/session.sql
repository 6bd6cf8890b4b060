-- The session's number, and the server that gave it.
SELECT CAST(CONNECTION_ID() AS CHAR), CONCAT(@@hostname, ' ', @@port)
