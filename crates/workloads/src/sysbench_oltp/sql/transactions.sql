-- The statements of the tests, for one table each. They are sent as written, without casts or hints.

-- statement: point-select
SELECT c FROM {table} WHERE id = $1;

-- statement: simple-range
SELECT c FROM {table} WHERE id BETWEEN $1 AND $2;

-- statement: sum-range
SELECT SUM(k) FROM {table} WHERE id BETWEEN $1 AND $2;

-- statement: order-range
SELECT c FROM {table} WHERE id BETWEEN $1 AND $2 ORDER BY c;

-- statement: distinct-range
SELECT DISTINCT c FROM {table} WHERE id BETWEEN $1 AND $2 ORDER BY c;

-- statement: update-index
UPDATE {table} SET k = k + 1 WHERE id = $1;

-- statement: update-non-index
UPDATE {table} SET c = $1 WHERE id = $2;

-- statement: delete
DELETE FROM {table} WHERE id = $1;

-- statement: insert
INSERT INTO {table} (id, k, c, pad) VALUES ($1, $2, $3, $4);

-- The server numbers the row.
-- statement: insert-numbered
INSERT INTO {table} (k, c, pad) VALUES ($1, $2, $3);

-- As many markers as random_points says.
-- statement: random-points
SELECT id, k, c, pad FROM {table} WHERE k IN ({points});

-- As many ranges as number_of_ranges says, each with two markers.
-- statement: random-ranges
SELECT COUNT(k) FROM {table} WHERE {ranges};

-- statement: bulk-insert
INSERT INTO {table} (id, k) VALUES {rows};
