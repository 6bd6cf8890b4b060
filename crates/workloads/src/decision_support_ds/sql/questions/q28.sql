-- Average, number and distinct number of list prices in six bands of quantities, for sales with one of three kinds of amount.
-- statement: q28
SELECT
    AVG(CASE band WHEN 1 THEN price END), COUNT(CASE band WHEN 1 THEN price END), COUNT(DISTINCT CASE band WHEN 1 THEN price END),
    AVG(CASE band WHEN 2 THEN price END), COUNT(CASE band WHEN 2 THEN price END), COUNT(DISTINCT CASE band WHEN 2 THEN price END),
    AVG(CASE band WHEN 3 THEN price END), COUNT(CASE band WHEN 3 THEN price END), COUNT(DISTINCT CASE band WHEN 3 THEN price END),
    AVG(CASE band WHEN 4 THEN price END), COUNT(CASE band WHEN 4 THEN price END), COUNT(DISTINCT CASE band WHEN 4 THEN price END),
    AVG(CASE band WHEN 5 THEN price END), COUNT(CASE band WHEN 5 THEN price END), COUNT(DISTINCT CASE band WHEN 5 THEN price END),
    AVG(CASE band WHEN 6 THEN price END), COUNT(CASE band WHEN 6 THEN price END), COUNT(DISTINCT CASE band WHEN 6 THEN price END)
FROM (
    SELECT band, ss_list_price AS price
    FROM (
        SELECT 1 AS band, 0 AS least, 5 AS most, {list_1} AS list, {coupon_1} AS coupon, {cost_1} AS cost
        UNION ALL SELECT 2, 6, 10, {list_2}, {coupon_2}, {cost_2}
        UNION ALL SELECT 3, 11, 15, {list_3}, {coupon_3}, {cost_3}
        UNION ALL SELECT 4, 16, 20, {list_4}, {coupon_4}, {cost_4}
        UNION ALL SELECT 5, 21, 25, {list_5}, {coupon_5}, {cost_5}
        UNION ALL SELECT 6, 26, 30, {list_6}, {coupon_6}, {cost_6}) bands
    JOIN store_sales ON ss_quantity BETWEEN least AND most
    WHERE ss_list_price BETWEEN list AND list + 10 * {one} OR ss_coupon_amt BETWEEN coupon AND coupon + 1000 * {one}
        OR ss_wholesale_cost BETWEEN cost AND cost + 20 * {one}) sold;
