-- Since version 17 checkpoints have their own view, and writes by sessions are counted only together with all others.
SELECT counter.key, counter.value
FROM pg_stat_checkpointer c
CROSS JOIN LATERAL jsonb_each_text(to_jsonb(c)) AS counter
WHERE counter.key NOT LIKE '%time' AND counter.key <> 'stats_reset'
UNION ALL
SELECT 'relation_writes', SUM(writes)::TEXT FROM pg_stat_io WHERE object = 'relation'
