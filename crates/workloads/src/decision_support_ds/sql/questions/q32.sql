-- Discounts of the catalog on a manufacturer's goods that were more than 1.3 times what is usual for the item in three months.
-- statement: q32
SELECT SUM(discount)
FROM (
    SELECT cs_ext_discount_amt AS discount, AVG(cs_ext_discount_amt) OVER (PARTITION BY cs_item_sk) AS usual
    FROM date_dim
    JOIN catalog_sales ON cs_sold_date_sk = d_date_sk
    JOIN item ON i_item_sk = cs_item_sk
    WHERE i_manufact_id = {manufacturer} AND d_date BETWEEN {first} AND {last}) compared
WHERE discount > 1.3 * usual;
