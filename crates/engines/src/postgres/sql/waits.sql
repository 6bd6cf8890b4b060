-- What each session of this database that is at work waits for. One that waits for nothing has a CPU or wants one.
SELECT coalesce(wait_event_type, 'CPU'), coalesce(wait_event, ''), count(*)
FROM pg_stat_activity
WHERE state = 'active' AND backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid()
GROUP BY 1, 2
