-- Cumulative counters of this database, by the server's own names. The columns differ between versions, so they are not
-- listed. Points in time, durations and values that are not numbers are left out. A session's share is complete once it
-- has ended. While it is open, the server learns of its work only seconds later.
SELECT counter.key, counter.value
FROM (
    SELECT to_jsonb(d) FROM pg_stat_database d WHERE d.datname = current_database()
    UNION ALL
    SELECT jsonb_build_object('database_bytes', pg_database_size(current_database()))
) AS source (counters)
CROSS JOIN LATERAL jsonb_each_text(source.counters) AS counter
WHERE counter.key NOT LIKE '%time'
  AND counter.key NOT IN ('datid', 'datname', 'numbackends', 'stats_reset')
