-- The maintenance functions. A set is taken before it is used, so that none is used twice.
--
-- What a set brings names things by their ids. They become keys, each by the row of the thing that is current. What has no such row
-- becomes null. {cents_of} and {rounded} stand around a product of two amounts, and {one} is 1.00.

-- statement: take
UPDATE refresh_sets SET used = used + 1 WHERE id = 1;

-- statement: used
SELECT used FROM refresh_sets WHERE id = 1;

-- statement: stage-order
INSERT INTO new_orders (order_number, day, hour, minute, second, place_id, customer_id, ship_customer_id, ship_mode_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- statement: stage-line
INSERT INTO new_lines (
    order_number, line_number, item_id, promotion_id, page_id, warehouse_id, ship_day, quantity, sales_price, coupon, ship_cost)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- statement: stage-return
INSERT INTO new_returns (
    order_number, line_number, item_id, day, hour, minute, second, place_id, page_id, ship_mode_id, warehouse_id, reason_id,
    refunded_customer_id, returning_customer_id, quantity, amount, tax, fee, ship_cost, cash, charge, credit)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22);

-- statement: clear-orders
DELETE FROM new_orders;

-- statement: clear-lines
DELETE FROM new_lines;

-- statement: clear-returns
DELETE FROM new_returns;

-- statement: insert-store-sales
INSERT INTO store_sales (
    ss_sold_date_sk, ss_sold_time_sk, ss_item_sk, ss_customer_sk, ss_cdemo_sk, ss_hdemo_sk, ss_addr_sk, ss_store_sk,
    ss_promo_sk, ss_ticket_number, ss_quantity, ss_wholesale_cost, ss_list_price, ss_sales_price, ss_ext_discount_amt,
    ss_ext_sales_price, ss_ext_wholesale_cost, ss_ext_list_price, ss_ext_tax, ss_coupon_amt, ss_net_paid, ss_net_paid_inc_tax,
    ss_net_profit)
SELECT
    sold.d_date_sk, t_time_sk, i_item_sk, buyer.c_customer_sk, buyer.c_current_cdemo_sk, buyer.c_current_hdemo_sk,
    buyer.c_current_addr_sk, s_store_sk, p_promo_sk, o.order_number, l.quantity, i_wholesale_cost, i_current_price,
    l.sales_price, (i_current_price - l.sales_price) * l.quantity, l.sales_price * l.quantity, i_wholesale_cost * l.quantity,
    i_current_price * l.quantity, {cents_of}i_current_price * s_tax_precentage{rounded}, l.coupon,
    l.sales_price * l.quantity - l.coupon,
    {cents_of}(l.sales_price * l.quantity - l.coupon) * ({one} + s_tax_precentage){rounded},
    l.sales_price * l.quantity - l.coupon - i_wholesale_cost * l.quantity
FROM new_orders o JOIN new_lines l ON l.order_number = o.order_number
LEFT JOIN date_dim sold ON sold.d_date = o.day
LEFT JOIN time_dim ON t_hour = o.hour AND t_minute = o.minute AND t_second = o.second
LEFT JOIN customer buyer ON buyer.c_customer_id = o.customer_id
LEFT JOIN store ON s_store_id = o.place_id AND s_rec_end_date IS NULL
LEFT JOIN item ON i_item_id = l.item_id AND i_rec_end_date IS NULL
LEFT JOIN promotion ON p_promo_id = l.promotion_id;

-- statement: insert-catalog-sales
INSERT INTO catalog_sales (
    cs_sold_date_sk, cs_sold_time_sk, cs_ship_date_sk, cs_bill_customer_sk, cs_bill_cdemo_sk, cs_bill_hdemo_sk, cs_bill_addr_sk,
    cs_ship_customer_sk, cs_ship_cdemo_sk, cs_ship_hdemo_sk, cs_ship_addr_sk, cs_call_center_sk, cs_catalog_page_sk,
    cs_ship_mode_sk, cs_warehouse_sk, cs_item_sk, cs_promo_sk, cs_order_number, cs_quantity, cs_wholesale_cost, cs_list_price,
    cs_sales_price, cs_ext_discount_amt, cs_ext_sales_price, cs_ext_wholesale_cost, cs_ext_list_price, cs_ext_tax,
    cs_coupon_amt, cs_ext_ship_cost, cs_net_paid, cs_net_paid_inc_tax, cs_net_paid_inc_ship, cs_net_paid_inc_ship_tax,
    cs_net_profit)
SELECT
    sold.d_date_sk, t_time_sk, shipped.d_date_sk, buyer.c_customer_sk, buyer.c_current_cdemo_sk, buyer.c_current_hdemo_sk,
    buyer.c_current_addr_sk, receiver.c_customer_sk, receiver.c_current_cdemo_sk, receiver.c_current_hdemo_sk,
    receiver.c_current_addr_sk, cc_call_center_sk, cp_catalog_page_sk, sm_ship_mode_sk, w_warehouse_sk, i_item_sk, p_promo_sk,
    o.order_number, l.quantity, i_wholesale_cost, i_current_price, l.sales_price,
    (i_current_price - l.sales_price) * l.quantity, l.sales_price * l.quantity, i_wholesale_cost * l.quantity,
    i_current_price * l.quantity, {cents_of}i_current_price * cc_tax_percentage{rounded}, l.coupon, l.ship_cost * l.quantity,
    l.sales_price * l.quantity - l.coupon,
    {cents_of}(l.sales_price * l.quantity - l.coupon) * ({one} + cc_tax_percentage){rounded},
    l.sales_price * l.quantity - l.coupon + l.ship_cost * l.quantity,
    l.sales_price * l.quantity - l.coupon + l.ship_cost * l.quantity + {cents_of}i_current_price * cc_tax_percentage{rounded},
    l.sales_price * l.quantity - l.coupon - i_wholesale_cost * l.quantity
FROM new_orders o JOIN new_lines l ON l.order_number = o.order_number
LEFT JOIN date_dim sold ON sold.d_date = o.day
LEFT JOIN time_dim ON t_hour = o.hour AND t_minute = o.minute AND t_second = o.second
LEFT JOIN customer buyer ON buyer.c_customer_id = o.customer_id
LEFT JOIN customer receiver ON receiver.c_customer_id = o.ship_customer_id
LEFT JOIN ship_mode ON sm_ship_mode_id = o.ship_mode_id
LEFT JOIN call_center ON cc_call_center_id = o.place_id AND cc_rec_end_date IS NULL
LEFT JOIN date_dim shipped ON shipped.d_date = l.ship_day
LEFT JOIN warehouse ON w_warehouse_id = l.warehouse_id
LEFT JOIN catalog_page ON cp_catalog_page_id = l.page_id
LEFT JOIN item ON i_item_id = l.item_id AND i_rec_end_date IS NULL
LEFT JOIN promotion ON p_promo_id = l.promotion_id;

-- statement: insert-web-sales
INSERT INTO web_sales (
    ws_sold_date_sk, ws_sold_time_sk, ws_ship_date_sk, ws_item_sk, ws_bill_customer_sk, ws_bill_cdemo_sk, ws_bill_hdemo_sk,
    ws_bill_addr_sk, ws_ship_customer_sk, ws_ship_cdemo_sk, ws_ship_hdemo_sk, ws_ship_addr_sk, ws_web_page_sk, ws_web_site_sk,
    ws_ship_mode_sk, ws_warehouse_sk, ws_promo_sk, ws_order_number, ws_quantity, ws_wholesale_cost, ws_list_price,
    ws_sales_price, ws_ext_discount_amt, ws_ext_sales_price, ws_ext_wholesale_cost, ws_ext_list_price, ws_ext_tax,
    ws_coupon_amt, ws_ext_ship_cost, ws_net_paid, ws_net_paid_inc_tax, ws_net_paid_inc_ship, ws_net_paid_inc_ship_tax,
    ws_net_profit)
SELECT
    sold.d_date_sk, t_time_sk, shipped.d_date_sk, i_item_sk, buyer.c_customer_sk, buyer.c_current_cdemo_sk,
    buyer.c_current_hdemo_sk, buyer.c_current_addr_sk, receiver.c_customer_sk, receiver.c_current_cdemo_sk,
    receiver.c_current_hdemo_sk, receiver.c_current_addr_sk, wp_web_page_sk, web_site_sk, sm_ship_mode_sk, w_warehouse_sk,
    p_promo_sk, o.order_number, l.quantity, i_wholesale_cost, i_current_price, l.sales_price,
    (i_current_price - l.sales_price) * l.quantity, l.sales_price * l.quantity, i_wholesale_cost * l.quantity,
    i_current_price * l.quantity, {cents_of}i_current_price * web_tax_percentage{rounded}, l.coupon, l.ship_cost * l.quantity,
    l.sales_price * l.quantity - l.coupon,
    {cents_of}(l.sales_price * l.quantity - l.coupon) * ({one} + web_tax_percentage){rounded},
    l.sales_price * l.quantity - l.coupon + l.ship_cost * l.quantity,
    l.sales_price * l.quantity - l.coupon + l.ship_cost * l.quantity + {cents_of}i_current_price * web_tax_percentage{rounded},
    l.sales_price * l.quantity - l.coupon - i_wholesale_cost * l.quantity
FROM new_orders o JOIN new_lines l ON l.order_number = o.order_number
LEFT JOIN date_dim sold ON sold.d_date = o.day
LEFT JOIN time_dim ON t_hour = o.hour AND t_minute = o.minute AND t_second = o.second
LEFT JOIN customer buyer ON buyer.c_customer_id = o.customer_id
LEFT JOIN customer receiver ON receiver.c_customer_id = o.ship_customer_id
LEFT JOIN ship_mode ON sm_ship_mode_id = o.ship_mode_id
LEFT JOIN web_site ON web_site_id = o.place_id AND web_rec_end_date IS NULL
LEFT JOIN date_dim shipped ON shipped.d_date = l.ship_day
LEFT JOIN warehouse ON w_warehouse_id = l.warehouse_id
LEFT JOIN web_page ON wp_web_page_id = l.page_id AND wp_rec_end_date IS NULL
LEFT JOIN item ON i_item_id = l.item_id AND i_rec_end_date IS NULL
LEFT JOIN promotion ON p_promo_id = l.promotion_id;

-- statement: insert-store-returns
INSERT INTO store_returns (
    sr_returned_date_sk, sr_return_time_sk, sr_item_sk, sr_customer_sk, sr_cdemo_sk, sr_hdemo_sk, sr_addr_sk, sr_store_sk,
    sr_reason_sk, sr_ticket_number, sr_return_quantity, sr_return_amt, sr_return_tax, sr_return_amt_inc_tax, sr_fee,
    sr_return_ship_cost, sr_refunded_cash, sr_reversed_charge, sr_store_credit, sr_net_loss)
SELECT
    d_date_sk, t_time_sk, i_item_sk, customer.c_customer_sk, customer.c_current_cdemo_sk, customer.c_current_hdemo_sk,
    customer.c_current_addr_sk, s_store_sk, r_reason_sk, r.order_number, r.quantity, r.amount, r.tax, r.amount + r.tax, r.fee,
    r.ship_cost, r.cash, r.charge, r.credit, r.amount + r.tax + r.fee - r.cash - r.charge - r.credit
FROM new_returns r
LEFT JOIN date_dim ON d_date = r.day
LEFT JOIN time_dim ON t_hour = r.hour AND t_minute = r.minute AND t_second = r.second
LEFT JOIN item ON i_item_id = r.item_id AND i_rec_end_date IS NULL
LEFT JOIN customer ON c_customer_id = r.returning_customer_id
LEFT JOIN store ON s_store_id = r.place_id AND s_rec_end_date IS NULL
LEFT JOIN reason ON r_reason_id = r.reason_id;

-- statement: insert-catalog-returns
INSERT INTO catalog_returns (
    cr_returned_date_sk, cr_returned_time_sk, cr_item_sk, cr_refunded_customer_sk, cr_refunded_cdemo_sk, cr_refunded_hdemo_sk,
    cr_refunded_addr_sk, cr_returning_customer_sk, cr_returning_cdemo_sk, cr_returning_hdemo_sk, cr_returning_addr_sk,
    cr_call_center_sk, cr_catalog_page_sk, cr_ship_mode_sk, cr_warehouse_sk, cr_reason_sk, cr_order_number, cr_return_quantity,
    cr_return_amount, cr_return_tax, cr_return_amt_inc_tax, cr_fee, cr_return_ship_cost, cr_refunded_cash, cr_reversed_charge,
    cr_store_credit, cr_net_loss)
SELECT
    d_date_sk, t_time_sk, i_item_sk, refunded.c_customer_sk, refunded.c_current_cdemo_sk, refunded.c_current_hdemo_sk,
    refunded.c_current_addr_sk, returning_one.c_customer_sk, returning_one.c_current_cdemo_sk, returning_one.c_current_hdemo_sk,
    returning_one.c_current_addr_sk, cc_call_center_sk, cp_catalog_page_sk, sm_ship_mode_sk, w_warehouse_sk, r_reason_sk,
    r.order_number, r.quantity, r.amount, r.tax, r.amount + r.tax, r.fee, r.ship_cost, r.cash, r.charge, r.credit,
    r.amount + r.tax + r.fee - r.cash - r.charge - r.credit
FROM new_returns r
LEFT JOIN date_dim ON d_date = r.day
LEFT JOIN time_dim ON t_hour = r.hour AND t_minute = r.minute AND t_second = r.second
LEFT JOIN item ON i_item_id = r.item_id AND i_rec_end_date IS NULL
LEFT JOIN customer refunded ON refunded.c_customer_id = r.refunded_customer_id
LEFT JOIN customer returning_one ON returning_one.c_customer_id = r.returning_customer_id
LEFT JOIN call_center ON cc_call_center_id = r.place_id AND cc_rec_end_date IS NULL
LEFT JOIN catalog_page ON cp_catalog_page_id = r.page_id
LEFT JOIN ship_mode ON sm_ship_mode_id = r.ship_mode_id
LEFT JOIN warehouse ON w_warehouse_id = r.warehouse_id
LEFT JOIN reason ON r_reason_id = r.reason_id;

-- statement: insert-web-returns
INSERT INTO web_returns (
    wr_returned_date_sk, wr_returned_time_sk, wr_item_sk, wr_refunded_customer_sk, wr_refunded_cdemo_sk, wr_refunded_hdemo_sk,
    wr_refunded_addr_sk, wr_returning_customer_sk, wr_returning_cdemo_sk, wr_returning_hdemo_sk, wr_returning_addr_sk,
    wr_web_page_sk, wr_reason_sk, wr_order_number, wr_return_quantity, wr_return_amt, wr_return_tax, wr_return_amt_inc_tax,
    wr_fee, wr_return_ship_cost, wr_refunded_cash, wr_reversed_charge, wr_account_credit, wr_net_loss)
SELECT
    d_date_sk, t_time_sk, i_item_sk, refunded.c_customer_sk, refunded.c_current_cdemo_sk, refunded.c_current_hdemo_sk,
    refunded.c_current_addr_sk, returning_one.c_customer_sk, returning_one.c_current_cdemo_sk, returning_one.c_current_hdemo_sk,
    returning_one.c_current_addr_sk, wp_web_page_sk, r_reason_sk, r.order_number, r.quantity, r.amount, r.tax, r.amount + r.tax,
    r.fee, r.ship_cost, r.cash, r.charge, r.credit, r.amount + r.tax + r.fee - r.cash - r.charge - r.credit
FROM new_returns r
LEFT JOIN date_dim ON d_date = r.day
LEFT JOIN time_dim ON t_hour = r.hour AND t_minute = r.minute AND t_second = r.second
LEFT JOIN item ON i_item_id = r.item_id AND i_rec_end_date IS NULL
LEFT JOIN customer refunded ON refunded.c_customer_id = r.refunded_customer_id
LEFT JOIN customer returning_one ON returning_one.c_customer_id = r.returning_customer_id
LEFT JOIN web_page ON wp_web_page_id = r.page_id AND wp_rec_end_date IS NULL
LEFT JOIN reason ON r_reason_id = r.reason_id;

-- Quantities of new inventory are 0 to 1000 and follow from the keys.
-- statement: insert-inventory
INSERT INTO inventory (inv_date_sk, inv_item_sk, inv_warehouse_sk, inv_quantity_on_hand)
SELECT d_date_sk, i_item_sk, w_warehouse_sk, (d_date_sk % 1001 * 13 + i_item_sk % 1001 * 37 + w_warehouse_sk * 101) % 1001
FROM date_dim CROSS JOIN item CROSS JOIN warehouse
WHERE d_date IN ($1, $2, $3, $4, $5, $6) AND i_rec_end_date IS NULL;

-- statement: delete-store-returns
DELETE FROM store_returns WHERE EXISTS (
    SELECT 1 FROM store_sales
    WHERE ss_ticket_number = sr_ticket_number AND ss_item_sk = sr_item_sk
        AND ss_sold_date_sk BETWEEN (SELECT MIN(d_date_sk) FROM date_dim WHERE d_date >= $1)
            AND (SELECT MAX(d_date_sk) FROM date_dim WHERE d_date <= $2));

-- statement: delete-store-sales
DELETE FROM store_sales
WHERE ss_sold_date_sk BETWEEN (SELECT MIN(d_date_sk) FROM date_dim WHERE d_date >= $1)
    AND (SELECT MAX(d_date_sk) FROM date_dim WHERE d_date <= $2);

-- statement: delete-catalog-returns
DELETE FROM catalog_returns WHERE EXISTS (
    SELECT 1 FROM catalog_sales
    WHERE cs_order_number = cr_order_number AND cs_item_sk = cr_item_sk
        AND cs_sold_date_sk BETWEEN (SELECT MIN(d_date_sk) FROM date_dim WHERE d_date >= $1)
            AND (SELECT MAX(d_date_sk) FROM date_dim WHERE d_date <= $2));

-- statement: delete-catalog-sales
DELETE FROM catalog_sales
WHERE cs_sold_date_sk BETWEEN (SELECT MIN(d_date_sk) FROM date_dim WHERE d_date >= $1)
    AND (SELECT MAX(d_date_sk) FROM date_dim WHERE d_date <= $2);

-- statement: delete-web-returns
DELETE FROM web_returns WHERE EXISTS (
    SELECT 1 FROM web_sales
    WHERE ws_order_number = wr_order_number AND ws_item_sk = wr_item_sk
        AND ws_sold_date_sk BETWEEN (SELECT MIN(d_date_sk) FROM date_dim WHERE d_date >= $1)
            AND (SELECT MAX(d_date_sk) FROM date_dim WHERE d_date <= $2));

-- statement: delete-web-sales
DELETE FROM web_sales
WHERE ws_sold_date_sk BETWEEN (SELECT MIN(d_date_sk) FROM date_dim WHERE d_date >= $1)
    AND (SELECT MAX(d_date_sk) FROM date_dim WHERE d_date <= $2);

-- statement: delete-inventory
DELETE FROM inventory
WHERE inv_date_sk BETWEEN (SELECT MIN(d_date_sk) FROM date_dim WHERE d_date >= $1)
    AND (SELECT MAX(d_date_sk) FROM date_dim WHERE d_date <= $2);
