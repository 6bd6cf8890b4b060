-- Gathers the statistics of every table of this database now, instead of when the server would.
SET SESSION group_concat_max_len = 1048576;
SET @analyse = (
    SELECT CONCAT('ANALYZE TABLE ', GROUP_CONCAT(CONCAT('`', table_name, '`')))
    FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE');
SET @analyse = COALESCE(@analyse, 'DO 0');
PREPARE analyse FROM @analyse;
EXECUTE analyse;
DEALLOCATE PREPARE analyse;
