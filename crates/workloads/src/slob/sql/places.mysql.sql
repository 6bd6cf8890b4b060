-- Where rows lie, as far as the database tells: how many pages the table's own tree has, from statistics gathered now. An
-- InnoDB page holds two rows or more, so that many of them share one is expected and said.

-- How many pages hold rows, and how many rows one of them has, rounded up.
-- statement: pages
SELECT clustered.pages, CEILING((SELECT COUNT(*) FROM {table}) / clustered.pages) FROM (
    SELECT GREATEST(MAX(stat_value), 1) AS pages FROM mysql.innodb_index_stats
    WHERE database_name = DATABASE() AND table_name = '{table}' AND index_name = 'PRIMARY'
        AND stat_name = 'n_leaf_pages') AS clustered;

-- Neighbours by place that are neighbours by key.
-- statement: neighbours
SELECT COUNT(*) FROM (SELECT custid - LAG(custid) OVER (ORDER BY place) AS step FROM {table}) AS steps
WHERE step IN (-1, 1);
