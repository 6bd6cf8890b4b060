-- After a statement of finish.mysql.sql has failed, over the same connection: others use this server, too.

SET GLOBAL innodb_fill_factor = COALESCE(@filled, @@GLOBAL.innodb_fill_factor);
