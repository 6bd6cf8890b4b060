-- How TABLE is made, one thing a line: columns, indexes, keys to other tables, and what stores it.
SELECT CONCAT('column ', column_name, ' ', column_type, IF(is_nullable = 'NO', ' not null', ''))
FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name = 'TABLE'
UNION ALL
SELECT CONCAT('index ', index_name, ' (',
              GROUP_CONCAT(COALESCE(column_name, 'an expression') ORDER BY seq_in_index SEPARATOR ', '), ')',
              IF(non_unique = 0, ' unique', ''))
FROM information_schema.statistics
WHERE table_schema = DATABASE() AND table_name = 'TABLE'
GROUP BY index_name, non_unique
UNION ALL
SELECT CONCAT('foreign key ', constraint_name, ' (', column_name, ') of ', referenced_table_name)
FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND table_name = 'TABLE' AND referenced_table_name IS NOT NULL
UNION ALL
SELECT CONCAT('engine ', engine, IF(create_options = '', '', CONCAT(' ', create_options)))
FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = 'TABLE'
ORDER BY 1
