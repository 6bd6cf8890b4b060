-- InnoDB's cache of pages.
SELECT 'cache_bytes', CAST(@@innodb_buffer_pool_size AS CHAR)
