-- A script of its own, because VACUUM runs in no transaction with others. Freezing now spares the first measured
-- transactions the hint bits and autovacuum its first visit.
VACUUM (FREEZE, ANALYZE);
