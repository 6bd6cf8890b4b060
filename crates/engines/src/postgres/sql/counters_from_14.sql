-- Since version 14 the server counts what is written to the log.
SELECT counter.key, counter.value
FROM pg_stat_wal w
CROSS JOIN LATERAL jsonb_each_text(to_jsonb(w)) AS counter
WHERE counter.key NOT LIKE '%time' AND counter.key <> 'stats_reset'
