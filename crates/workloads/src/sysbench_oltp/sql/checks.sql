-- Conditions on one table. Each query returns the ids of rows that violate its condition. No row means that it holds.

-- statement: ids
SELECT id FROM {table} WHERE id < 1 OR id > {rows};

-- statement: unique-ids
SELECT id FROM {table} GROUP BY id HAVING COUNT(*) > 1;

-- statement: loaded-keys
SELECT id FROM {table} WHERE k < {lowest} OR k > {highest};

-- statement: keys
SELECT id FROM {table} WHERE k < {lowest};

-- Blanks at the end belong to the column, not to the text, and zeros where the database's character set is binary. Places are counted
-- in characters by every database, and lengths are not.
-- statement: texts
SELECT id FROM {table}
WHERE SUBSTR(c, 119, 1) <= ' ' OR SUBSTR(c, 120, 1) > ' '
    OR SUBSTR(c, 12, 1) <> '-' OR SUBSTR(c, 108, 1) <> '-'
    OR SUBSTR(pad, 59, 1) <= ' ' OR SUBSTR(pad, 60, 1) > ' '
    OR SUBSTR(pad, 12, 1) <> '-' OR SUBSTR(pad, 48, 1) <> '-';

-- statement: constant-texts
SELECT id FROM {table}
WHERE SUBSTR(c, 120, 1) > ' ' OR SUBSTR(pad, 50, 1) <= ' ' OR SUBSTR(pad, 51, 1) > ' ';
