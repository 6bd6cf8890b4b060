-- What each active session of this database waits for. Of nested waits it is the innermost. The performance schema does not have
-- InnoDB's waits for rows, so they come from InnoDB. A session without a wait runs on a CPU or needs one.
SELECT
    CASE
        WHEN locks.trx_id IS NOT NULL THEN 'Lock'
        WHEN waits.name IS NULL THEN 'CPU'
        ELSE SUBSTRING_INDEX(SUBSTR(waits.name, 6), '/', 2)
    END AS class,
    CASE
        WHEN locks.trx_id IS NOT NULL THEN 'row'
        WHEN waits.name IS NULL THEN ''
        ELSE SUBSTR(waits.name, 7 + CHAR_LENGTH(SUBSTRING_INDEX(SUBSTR(waits.name, 6), '/', 2)))
    END AS event,
    COUNT(*)
FROM performance_schema.threads AS sessions
LEFT JOIN (
    SELECT thread_id, SUBSTR(MAX(CONCAT(LPAD(event_id, 20, '0'), event_name)), 21) AS name
    FROM performance_schema.events_waits_current
    WHERE end_event_id IS NULL AND event_name LIKE 'wait/%'
    GROUP BY thread_id
) AS waits ON waits.thread_id = sessions.thread_id
LEFT JOIN information_schema.innodb_trx AS locks
    ON locks.trx_mysql_thread_id = sessions.processlist_id AND locks.trx_state = 'LOCK WAIT'
WHERE sessions.type = 'FOREGROUND' AND sessions.processlist_command IN ('Query', 'Execute')
    AND sessions.processlist_db <=> DATABASE() AND sessions.processlist_id <> CONNECTION_ID()
GROUP BY 1, 2
