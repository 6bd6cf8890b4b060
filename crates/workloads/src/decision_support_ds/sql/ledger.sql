-- Sums that a run changes by known amounts. Each query returns one number. {store}, {catalog} and {web} are the numbers of
-- orders that were loaded; new ones have higher numbers.

-- statement: sets
SELECT used FROM refresh_sets WHERE id = 1;

-- statement: store
SELECT COUNT(*) FROM store_sales WHERE ss_ticket_number > {store};

-- statement: catalog
SELECT COUNT(*) FROM catalog_sales WHERE cs_order_number > {catalog};

-- statement: web
SELECT COUNT(*) FROM web_sales WHERE ws_order_number > {web};
