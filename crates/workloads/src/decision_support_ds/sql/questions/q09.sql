-- For five sizes of sales, the average of one measure or, if there are few such sales, of another.
-- statement: q09
SELECT
    CASE WHEN SUM(CASE WHEN ss_quantity BETWEEN 1 AND 20 THEN 1 ELSE 0 END) > {rows_1}
        THEN AVG(CASE WHEN ss_quantity BETWEEN 1 AND 20 THEN many END)
        ELSE AVG(CASE WHEN ss_quantity BETWEEN 1 AND 20 THEN few END) END,
    CASE WHEN SUM(CASE WHEN ss_quantity BETWEEN 21 AND 40 THEN 1 ELSE 0 END) > {rows_2}
        THEN AVG(CASE WHEN ss_quantity BETWEEN 21 AND 40 THEN many END)
        ELSE AVG(CASE WHEN ss_quantity BETWEEN 21 AND 40 THEN few END) END,
    CASE WHEN SUM(CASE WHEN ss_quantity BETWEEN 41 AND 60 THEN 1 ELSE 0 END) > {rows_3}
        THEN AVG(CASE WHEN ss_quantity BETWEEN 41 AND 60 THEN many END)
        ELSE AVG(CASE WHEN ss_quantity BETWEEN 41 AND 60 THEN few END) END,
    CASE WHEN SUM(CASE WHEN ss_quantity BETWEEN 61 AND 80 THEN 1 ELSE 0 END) > {rows_4}
        THEN AVG(CASE WHEN ss_quantity BETWEEN 61 AND 80 THEN many END)
        ELSE AVG(CASE WHEN ss_quantity BETWEEN 61 AND 80 THEN few END) END,
    CASE WHEN SUM(CASE WHEN ss_quantity BETWEEN 81 AND 100 THEN 1 ELSE 0 END) > {rows_5}
        THEN AVG(CASE WHEN ss_quantity BETWEEN 81 AND 100 THEN many END)
        ELSE AVG(CASE WHEN ss_quantity BETWEEN 81 AND 100 THEN few END) END
FROM (
    SELECT ss_quantity,
        CASE {many} WHEN 1 THEN ss_ext_discount_amt WHEN 2 THEN ss_ext_sales_price WHEN 3 THEN ss_ext_list_price
            ELSE ss_ext_tax END AS many,
        CASE {few} WHEN 1 THEN ss_net_paid WHEN 2 THEN ss_net_paid_inc_tax ELSE ss_net_profit END AS few
    FROM store_sales) measured;
