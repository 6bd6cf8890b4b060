-- From PostgreSQL 14 on: ends the statement of a client that is gone, and with it all locks. From 17 on, transactions may have a
-- limit of their own.
SELECT set_config(name, CASE WHEN name = 'client_connection_check_interval' THEN '1s' ELSE '0' END, false)
FROM pg_catalog.pg_settings
WHERE name IN ('client_connection_check_interval', 'transaction_timeout')
