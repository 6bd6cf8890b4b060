SELECT pg_cancel_backend(SESSION)
