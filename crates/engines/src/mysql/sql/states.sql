-- The state of each active session of this database, for servers that report no waits except those for rows.
SELECT
    CASE WHEN locks.trx_id IS NOT NULL THEN 'Lock' WHEN COALESCE(sessions.state, '') = '' THEN 'CPU' ELSE 'State' END AS class,
    CASE WHEN locks.trx_id IS NOT NULL THEN 'row' ELSE COALESCE(sessions.state, '') END AS event,
    COUNT(*)
FROM information_schema.processlist AS sessions
LEFT JOIN information_schema.innodb_trx AS locks
    ON locks.trx_mysql_thread_id = sessions.id AND locks.trx_state = 'LOCK WAIT'
WHERE sessions.command IN ('Query', 'Execute') AND sessions.db <=> DATABASE() AND sessions.id <> CONNECTION_ID()
GROUP BY 1, 2
