-- Where rows are stored, as far as the database says: how many pages the table's own tree has, from statistics gathered
-- now. An InnoDB page holds two rows or more. So rows are expected to share pages, and the workload says so.

-- How many pages hold rows, and how many rows one of them has, rounded up.
-- statement: pages
SELECT clustered.pages, CEILING((SELECT COUNT(*) FROM {table}) / clustered.pages) FROM (
    SELECT GREATEST(MAX(stat_value), 1) AS pages FROM mysql.innodb_index_stats
    WHERE database_name = DATABASE() AND table_name = '{table}' AND index_name = 'PRIMARY'
        AND stat_name = 'n_leaf_pages') AS clustered;

-- Rows next to each other in storage whose keys are neighbours, too.
-- statement: neighbours
SELECT COUNT(*) FROM (SELECT custid - LAG(custid) OVER (ORDER BY place) AS step FROM {table}) AS steps
WHERE step IN (-1, 1);
