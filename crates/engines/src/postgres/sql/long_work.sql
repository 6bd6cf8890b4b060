-- No limit of statements and locks ends a load or a check.
SET statement_timeout = 0;
SET lock_timeout = 0
