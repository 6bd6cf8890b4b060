-- Cumulative counters of the whole server, by the same rules.
SELECT counter.key, counter.value
FROM (
    SELECT to_jsonb(b) FROM pg_stat_bgwriter b
    UNION ALL
    SELECT jsonb_build_object(
        'cache_bytes', pg_size_bytes(current_setting('shared_buffers')),
        -- A standby writes no log of its own.
        'wal_position', CASE WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') END)
) AS source (counters)
CROSS JOIN LATERAL jsonb_each_text(source.counters) AS counter
WHERE counter.key NOT LIKE '%time' AND counter.key <> 'stats_reset'
