-- From PostgreSQL 14 on: ends the statement of a client that is gone, and with it all locks.
SELECT set_config(name, '1s', false) FROM pg_catalog.pg_settings WHERE name = 'client_connection_check_interval'
