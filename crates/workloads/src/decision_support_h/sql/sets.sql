SELECT inserted, deleted FROM refresh_sets WHERE id = 1;
