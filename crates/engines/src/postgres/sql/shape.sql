-- How TABLE is made, one thing a line: columns, keys and other constraints, indexes, and whether its changes are logged.
SELECT 'column ' || attname || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' not null' ELSE '' END
FROM pg_attribute
WHERE attrelid = to_regclass('TABLE') AND attnum > 0 AND NOT attisdropped
UNION ALL
SELECT 'constraint ' || conname || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint
-- From 18 on, NOT NULL is here, too.
WHERE conrelid = to_regclass('TABLE') AND contype <> 'n'
UNION ALL
SELECT 'index ' || indexrelid::regclass || ' ' || substring(pg_get_indexdef(indexrelid) FROM ' USING (.*)$')
       || CASE WHEN indisunique THEN ' unique' ELSE '' END || CASE WHEN indisvalid THEN '' ELSE ' invalid' END
FROM pg_index
WHERE indrelid = to_regclass('TABLE')
UNION ALL
SELECT CASE relpersistence WHEN 'p' THEN 'logged' WHEN 'u' THEN 'unlogged' ELSE 'temporary' END
FROM pg_class
WHERE oid = to_regclass('TABLE')
UNION ALL
SELECT 'options ' || array_to_string(reloptions, ', ')
FROM pg_class
WHERE oid = to_regclass('TABLE') AND reloptions IS NOT NULL
ORDER BY 1
