-- Cumulative counters of this database and of the server, by their own names. The columns differ between versions, so
-- they are not listed. Points in time, durations and values that are not numbers are left out. A session's share is
-- complete once it has ended. While it is open, the server learns of its work only seconds later.
SELECT counter.key, counter.value
FROM (
    SELECT to_jsonb(d) FROM pg_stat_database d WHERE d.datname = current_database()
    UNION ALL
    SELECT to_jsonb(b) FROM pg_stat_bgwriter b
    UNION ALL
    SELECT jsonb_build_object(
        'cache_bytes', pg_size_bytes(current_setting('shared_buffers')),
        'database_bytes', pg_database_size(current_database()),
        -- A standby writes no log of its own.
        'wal_position', CASE WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') END)
) AS source (counters)
CROSS JOIN LATERAL jsonb_each_text(source.counters) AS counter
WHERE counter.key NOT LIKE '%time'
  AND counter.key NOT IN ('datid', 'datname', 'numbackends', 'stats_reset')
