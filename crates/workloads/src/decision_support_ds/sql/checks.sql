-- Conditions on the data. Each query returns the keys of rows that violate its condition. No row means that it holds.
-- Comparisons with what is null find nothing.

-- statement: store-amounts
SELECT ss_ticket_number, ss_item_sk FROM store_sales
WHERE ss_ext_sales_price <> ss_quantity * ss_sales_price
    OR ss_ext_list_price <> ss_quantity * ss_list_price
    OR ss_ext_wholesale_cost <> ss_quantity * ss_wholesale_cost
    OR ss_net_paid <> ss_ext_sales_price - ss_coupon_amt
    OR ss_net_profit <> ss_net_paid - ss_ext_wholesale_cost;

-- statement: store-items
SELECT ss_ticket_number, ss_item_sk FROM store_sales LEFT JOIN item ON i_item_sk = ss_item_sk WHERE i_item_sk IS NULL;

-- statement: store-returns
SELECT sr_ticket_number, sr_item_sk FROM store_returns
LEFT JOIN store_sales ON ss_ticket_number = sr_ticket_number AND ss_item_sk = sr_item_sk
WHERE ss_ticket_number IS NULL OR sr_return_quantity > ss_quantity
    OR sr_return_amt <> sr_return_quantity * ss_sales_price OR sr_return_amt_inc_tax <> sr_return_amt + sr_return_tax;

-- statement: catalog-amounts
SELECT cs_order_number, cs_item_sk FROM catalog_sales
WHERE cs_ext_sales_price <> cs_quantity * cs_sales_price
    OR cs_ext_list_price <> cs_quantity * cs_list_price
    OR cs_ext_wholesale_cost <> cs_quantity * cs_wholesale_cost
    OR cs_net_paid <> cs_ext_sales_price - cs_coupon_amt
    OR cs_net_profit <> cs_net_paid - cs_ext_wholesale_cost
    OR cs_net_paid_inc_ship <> cs_net_paid + cs_ext_ship_cost;

-- statement: catalog-items
SELECT cs_order_number, cs_item_sk FROM catalog_sales LEFT JOIN item ON i_item_sk = cs_item_sk WHERE i_item_sk IS NULL;

-- statement: catalog-returns
SELECT cr_order_number, cr_item_sk FROM catalog_returns
LEFT JOIN catalog_sales ON cs_order_number = cr_order_number AND cs_item_sk = cr_item_sk
WHERE cs_order_number IS NULL OR cr_return_quantity > cs_quantity
    OR cr_return_amount <> cr_return_quantity * cs_sales_price OR cr_return_amt_inc_tax <> cr_return_amount + cr_return_tax;

-- statement: web-amounts
SELECT ws_order_number, ws_item_sk FROM web_sales
WHERE ws_ext_sales_price <> ws_quantity * ws_sales_price
    OR ws_ext_list_price <> ws_quantity * ws_list_price
    OR ws_ext_wholesale_cost <> ws_quantity * ws_wholesale_cost
    OR ws_net_paid <> ws_ext_sales_price - ws_coupon_amt
    OR ws_net_profit <> ws_net_paid - ws_ext_wholesale_cost
    OR ws_net_paid_inc_ship <> ws_net_paid + ws_ext_ship_cost;

-- statement: web-items
SELECT ws_order_number, ws_item_sk FROM web_sales LEFT JOIN item ON i_item_sk = ws_item_sk WHERE i_item_sk IS NULL;

-- statement: web-returns
SELECT wr_order_number, wr_item_sk FROM web_returns
LEFT JOIN web_sales ON ws_order_number = wr_order_number AND ws_item_sk = wr_item_sk
WHERE ws_order_number IS NULL OR wr_return_quantity > ws_quantity
    OR wr_return_amt <> wr_return_quantity * ws_sales_price OR wr_return_amt_inc_tax <> wr_return_amt + wr_return_tax;

-- Days are Julian days. The first of inventory is 2450815, a Thursday.
-- statement: inventory-days
SELECT inv_date_sk, inv_item_sk, inv_warehouse_sk FROM inventory
WHERE (inv_date_sk - 2450815) % 7 <> 0 OR inv_quantity_on_hand NOT BETWEEN 0 AND 1000;

-- statement: inventory-items
SELECT inv_date_sk, inv_item_sk, inv_warehouse_sk FROM inventory
LEFT JOIN item ON i_item_sk = inv_item_sk
LEFT JOIN warehouse ON w_warehouse_sk = inv_warehouse_sk
WHERE i_item_sk IS NULL OR w_warehouse_sk IS NULL;

-- statement: item-histories
SELECT i_item_sk FROM item
WHERE i_rec_end_date IS NULL
    AND EXISTS (
        SELECT 1 FROM item other
        WHERE other.i_item_id = item.i_item_id AND other.i_item_sk <> item.i_item_sk AND other.i_rec_end_date IS NULL);
