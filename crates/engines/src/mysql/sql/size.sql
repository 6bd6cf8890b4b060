-- The total size of the files of this database's tables.
SELECT 'database_bytes', CAST(COALESCE(SUM(file_size), 0) AS CHAR)
FROM information_schema.innodb_sys_tablespaces WHERE name LIKE CONCAT(DATABASE(), '/%')
