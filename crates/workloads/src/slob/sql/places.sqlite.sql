-- Where rows are stored, from the database's own catalogue.

-- How many pages hold rows, and how many rows the fullest of them has.
-- statement: pages
SELECT COUNT(*), MAX(ncell) FROM dbstat WHERE name = '{table}' AND pagetype = 'leaf';

-- Rows next to each other in storage whose keys are neighbours, too.
-- statement: neighbours
SELECT COUNT(*) FROM (SELECT custid - LAG(custid) OVER (ORDER BY rowid) AS step FROM {table}) AS steps
WHERE step IN (-1, 1);
