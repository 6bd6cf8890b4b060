-- The size of InnoDB's page cache.
SELECT 'cache_bytes', CAST(@@innodb_buffer_pool_size AS CHAR)
