-- What each active session of this database waits for. A session without a wait runs on a CPU or needs one.
SELECT coalesce(wait_event_type, 'CPU'), coalesce(wait_event, ''), count(*)
FROM pg_stat_activity
WHERE state = 'active' AND backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid()
GROUP BY 1, 2
