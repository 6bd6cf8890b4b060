-- All settings that differ from PostgreSQL's defaults, and those that decide the cost of a commit, changed or not.
SELECT name, current_setting(name)
FROM pg_settings
WHERE source <> 'default'
   OR name IN (
       'autovacuum', 'bgwriter_delay', 'checkpoint_completion_target', 'checkpoint_timeout', 'commit_delay',
       'data_checksums', 'default_transaction_isolation', 'effective_cache_size', 'effective_io_concurrency', 'fsync',
       'full_page_writes', 'huge_pages', 'io_method', 'jit', 'maintenance_work_mem', 'max_connections', 'max_wal_size',
       'min_wal_size', 'random_page_cost', 'server_encoding', 'server_version', 'shared_buffers', 'shared_memory_type',
       'synchronous_commit', 'wal_buffers', 'wal_compression', 'wal_level', 'wal_sync_method', 'work_mem')
