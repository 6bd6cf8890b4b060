-- Runs over the same connection after a statement of finish.mysql.sql has failed, because others use this server, too.

SET GLOBAL innodb_fill_factor = COALESCE(@filled, @@GLOBAL.innodb_fill_factor);
