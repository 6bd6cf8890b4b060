CREATE DATABASE bakeoff CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
DELETE FROM mysql.global_priv WHERE Host <> 'localhost' OR User = '';
