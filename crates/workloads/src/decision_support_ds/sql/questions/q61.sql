-- The percentage of a month's sales of a category to a time zone that came with a promotion by mail, e-mail or television.
-- statement: q61
SELECT promoted, sold, 100.0 * promoted / NULLIF(sold, 0)
FROM (
    SELECT SUM(CASE WHEN p_channel_dmail = 'Y' OR p_channel_email = 'Y' OR p_channel_tv = 'Y' THEN ss_ext_sales_price END)
            AS promoted,
        SUM(ss_ext_sales_price) AS sold
    FROM date_dim
    JOIN store_sales ON ss_sold_date_sk = d_date_sk
    JOIN store ON s_store_sk = ss_store_sk
    JOIN customer ON c_customer_sk = ss_customer_sk
    JOIN customer_address ON ca_address_sk = c_current_addr_sk
    JOIN item ON i_item_sk = ss_item_sk
    LEFT JOIN promotion ON p_promo_sk = ss_promo_sk
    WHERE ca_gmt_offset = {offset} AND s_gmt_offset = {offset} AND i_category = {category} AND d_year = {year}
        AND d_moy = {month}) sums
ORDER BY promoted, sold
LIMIT 100;
