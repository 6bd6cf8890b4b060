-- This is a separate script, because VACUUM cannot run in a transaction with other statements. Freezing now saves the
-- first measured transactions from setting hint bits, and autovacuum its first pass.
VACUUM (FREEZE, ANALYZE);
