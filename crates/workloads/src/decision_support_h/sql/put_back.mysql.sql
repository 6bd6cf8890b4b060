SET foreign_key_checks = 1;
