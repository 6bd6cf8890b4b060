-- The trade loaded last. Those placed since are from after 2010.
SELECT t_id FROM trade WHERE t_dts < 1262304000000000 ORDER BY t_id DESC LIMIT 1;
