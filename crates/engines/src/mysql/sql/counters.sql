-- Cumulative counters of the server, by their own names. What is a state, a duration or no number is left out.
SELECT LOWER(variable_name), variable_value
FROM information_schema.global_status
WHERE variable_value REGEXP '^[0-9]+$'
  AND (variable_name REGEXP '^(BYTES_|COM_(BEGIN|COMMIT|DELETE|INSERT|LOAD|ROLLBACK|SELECT|STMT_EXECUTE|UPDATE)$|CREATED_TMP_|HANDLER_|SELECT_|SORT_)'
    OR variable_name REGEXP '^INNODB_(BUFFER_POOL_(READ|PAGES_FLUSHED|WAIT_FREE|WRITE)|DATA_(FSYNCS|READ|READS|WRITES|WRITTEN)$|DBLWR_|DEADLOCKS|LOG_(WAITS|WRITE)|OS_LOG_|PAGES_|ROW_LOCK_WAITS|ROWS_)'
    OR variable_name IN ('CONNECTIONS', 'INNODB_LSN_CURRENT', 'QUERIES', 'QUESTIONS', 'SLOW_QUERIES', 'TABLE_LOCKS_WAITED'))
UNION ALL
SELECT 'database_bytes', CAST(COALESCE(SUM(file_size), 0) AS CHAR)
FROM information_schema.innodb_sys_tablespaces WHERE name LIKE CONCAT(DATABASE(), '/%')
UNION ALL
SELECT 'cache_bytes', CAST(@@innodb_buffer_pool_size AS CHAR)
