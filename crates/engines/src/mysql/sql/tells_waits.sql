-- 1 if the performance schema counts the waits of sessions at all.
SELECT @@performance_schema = 1 AND COUNT(*) = 3 AS tells
FROM performance_schema.setup_consumers
WHERE enabled = 'YES' AND name IN ('global_instrumentation', 'thread_instrumentation', 'events_waits_current')
