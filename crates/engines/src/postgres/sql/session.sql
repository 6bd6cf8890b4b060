-- The session's process, and the server that it is of.
SELECT pg_backend_pid()::text, pg_postmaster_start_time()::text
