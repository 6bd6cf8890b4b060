-- The SQL of workloads relies on these: each statement commits alone, a backslash escapes in a text, all rows of an answer come, a
-- commit does not end the session, and a client that pauses keeps its session.
SET SESSION autocommit = 1, sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', sql_select_limit = 18446744073709551615,
    sql_safe_updates = 0, completion_type = 0, wait_timeout = 86400
