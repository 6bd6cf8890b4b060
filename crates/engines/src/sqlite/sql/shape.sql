-- How TABLE is made, one thing a line: columns, and indexes.
SELECT 'column ' || name || ' ' || type || CASE WHEN "notnull" THEN ' not null' ELSE '' END
       || CASE WHEN pk > 0 THEN ' key ' || pk ELSE '' END
FROM pragma_table_info('TABLE')
UNION ALL
SELECT 'index ' || of_table.name || ' ('
       || (SELECT group_concat(COALESCE(of_index.name, 'an expression'), ', ') FROM pragma_index_info(of_table.name) AS of_index)
       || ')' || CASE WHEN of_table."unique" THEN ' unique' ELSE '' END
FROM pragma_index_list('TABLE') AS of_table
ORDER BY 1
