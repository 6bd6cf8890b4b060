-- Where rows are stored, from the database's own catalogue. The number of pages of a table is that of its file. The
-- number before the comma in a row's address is its page.

-- How many pages the table has, and how many rows the fullest of them has.
-- statement: pages
SELECT pg_relation_size('{table}') / current_setting('block_size')::BIGINT, (
    SELECT MAX(rows) FROM (
        SELECT COUNT(*) AS rows FROM {table} GROUP BY split_part(ctid::TEXT, ',', 1)) AS pages);

-- Rows next to each other in storage whose keys are neighbours, too.
-- statement: neighbours
SELECT COUNT(*) FROM (SELECT custid - LAG(custid) OVER (ORDER BY ctid) AS step FROM {table}) AS steps
WHERE step IN (-1, 1);
