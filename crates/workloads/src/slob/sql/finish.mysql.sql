-- When rows are appended, InnoDB fills pages with as many rows as fit. The rebuild fills pages only to a tenth, which one row
-- exceeds. So each page has the fewest rows that InnoDB allows: two.

SET @filled = @@GLOBAL.innodb_fill_factor;
SET GLOBAL innodb_fill_factor = 10;
ALTER TABLE {table} FORCE, ALGORITHM = INPLACE;
SET GLOBAL innodb_fill_factor = @filled;
