-- A client that thinks, or waits for a queue, is no client that is gone.
SELECT set_config(name, '0', false)
FROM pg_catalog.pg_settings
WHERE name IN ('idle_session_timeout', 'idle_in_transaction_session_timeout')
