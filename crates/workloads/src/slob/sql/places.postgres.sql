-- Where rows lie, from the database's own catalogue. The table's number of pages is that of its file; the number in a
-- row's address before the comma is its page.

-- How many pages the table has, and how many rows the fullest of them has.
-- statement: pages
SELECT pg_relation_size('{table}') / current_setting('block_size')::BIGINT, (
    SELECT MAX(rows) FROM (
        SELECT COUNT(*) AS rows FROM {table} GROUP BY split_part(ctid::TEXT, ',', 1)) AS pages);

-- Neighbours by place that are neighbours by key.
-- statement: neighbours
SELECT COUNT(*) FROM (SELECT custid - LAG(custid) OVER (ORDER BY ctid) AS step FROM {table}) AS steps
WHERE step IN (-1, 1);
