-- Items of certain colours and prices that were sold and returned at a store in a year and not more often in the next, to people
-- who have married or parted since. Of what was sold of them by catalog, less than half was refunded.
-- statement: q64
WITH kept AS (
    SELECT cs_item_sk AS item_key
    FROM item
    JOIN catalog_sales ON cs_item_sk = i_item_sk
    JOIN catalog_returns ON cr_item_sk = cs_item_sk AND cr_order_number = cs_order_number
    WHERE i_color IN ({colours}) AND i_current_price BETWEEN {least} AND {most}
    GROUP BY cs_item_sk
    HAVING SUM(cs_ext_list_price) > 2 * SUM(cr_refunded_cash + cr_reversed_charge + cr_store_credit)),
sold AS (
    SELECT i_product_name AS product, i_item_sk AS item_key, s_store_name AS store_name, s_zip AS store_zip,
        bought.ca_street_number AS bought_number, bought.ca_street_name AS bought_street, bought.ca_city AS bought_city,
        bought.ca_zip AS bought_zip, lives.ca_street_number AS number, lives.ca_street_name AS street,
        lives.ca_city AS city, lives.ca_zip AS zip, day.d_year AS sold_in, COUNT(*) AS sales,
        SUM(ss_wholesale_cost) AS cost, SUM(ss_list_price) AS list_price, SUM(ss_coupon_amt) AS coupons
    FROM kept
    JOIN item ON i_item_sk = item_key
    JOIN store_sales ON ss_item_sk = i_item_sk
    JOIN store_returns ON sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
    JOIN date_dim day ON day.d_date_sk = ss_sold_date_sk
    JOIN store ON s_store_sk = ss_store_sk
    JOIN customer ON c_customer_sk = ss_customer_sk
    JOIN customer_demographics buyer ON buyer.cd_demo_sk = ss_cdemo_sk
    JOIN customer_demographics now ON now.cd_demo_sk = c_current_cdemo_sk
    JOIN promotion ON p_promo_sk = ss_promo_sk
    JOIN household_demographics household ON household.hd_demo_sk = ss_hdemo_sk
    JOIN household_demographics household_now ON household_now.hd_demo_sk = c_current_hdemo_sk
    JOIN income_band income ON income.ib_income_band_sk = household.hd_income_band_sk
    JOIN income_band income_now ON income_now.ib_income_band_sk = household_now.hd_income_band_sk
    JOIN customer_address bought ON bought.ca_address_sk = ss_addr_sk
    JOIN customer_address lives ON lives.ca_address_sk = c_current_addr_sk
    JOIN date_dim first_sale ON first_sale.d_date_sk = c_first_sales_date_sk
    JOIN date_dim first_shipped ON first_shipped.d_date_sk = c_first_shipto_date_sk
    WHERE buyer.cd_marital_status <> now.cd_marital_status AND day.d_year IN ({year}, {year} + 1)
    GROUP BY i_product_name, i_item_sk, s_store_name, s_zip, bought.ca_street_number, bought.ca_street_name,
        bought.ca_city, bought.ca_zip, lives.ca_street_number, lives.ca_street_name, lives.ca_city, lives.ca_zip,
        day.d_year, first_sale.d_year, first_shipped.d_year)
SELECT sold.product, sold.store_name, sold.store_zip, sold.bought_number, sold.bought_street, sold.bought_city,
    sold.bought_zip, sold.number, sold.street, sold.city, sold.zip, sold.sold_in, sold.sales, sold.cost, sold.list_price,
    sold.coupons, later.cost, later.list_price, later.coupons, later.sold_in, later.sales
FROM sold
JOIN sold later ON later.item_key = sold.item_key AND later.store_name = sold.store_name AND later.store_zip = sold.store_zip
WHERE sold.sold_in = {year} AND later.sold_in = {year} + 1 AND later.sales <= sold.sales
ORDER BY sold.product, sold.store_name, later.sales, sold.cost, later.cost;
