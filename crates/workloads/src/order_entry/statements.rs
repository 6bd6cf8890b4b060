//! The statements of the transactions, by name.

use crate::sql::{self, SqlError};
use engines::statement::{ByDialect, Statement};

const SHARED: &str = include_str!("sql/transactions.sql");
/// The statements that differ in a dialect.
const OWN: ByDialect<&str> = sql::files!(servers "sql/transactions");

sql::statement_names! {
    /// Position in the list of prepared statements.
    pub enum OrderEntryStatement {
        WarehouseTax => "warehouse-tax",
        TakeOrderNumber => "take-order-number",
        CustomerDiscount => "customer-discount",
        InsertOrder => "insert-order",
        InsertQueued => "insert-queued",
        Item => "item",
        TakeStock => "take-stock",
        InsertLine => "insert-line",
        PayWarehouse => "pay-warehouse",
        PayDistrict => "pay-district",
        CustomersOfName => "customers-of-name",
        PayCustomer => "pay-customer",
        InsertHistory => "insert-history",
        InsertHistoryHere => "insert-history-here",
        CustomerBalance => "customer-balance",
        LastOrder => "last-order",
        LinesOfOrder => "lines-of-order",
        TakeOldestQueued => "take-oldest-queued",
        Carry => "carry",
        DeliverLines => "deliver-lines",
        CreditDelivery => "credit-delivery",
        NextOrderNumber => "next-order-number",
        LowStock => "low-stock",
    }
}

/// The statements of every dialect.
pub fn read() -> Result<ByDialect<Vec<Statement>>, SqlError> {
    OWN.try_map(|own| sql::statements(OrderEntryStatement::NAMES, SHARED, own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engines::statement::Dialect;

    #[test]
    fn the_files_and_the_names_belong_together() {
        let statements = read().unwrap();
        assert_eq!(statements.of(Dialect::Sqlite).len(), OrderEntryStatement::LowStock as usize + 1);
        let named = |sql: OrderEntryStatement| statements.of(Dialect::Postgres)[sql as usize].sql.as_str();
        assert!(named(OrderEntryStatement::LowStock).contains("COUNT(DISTINCT"));
        assert!(named(OrderEntryStatement::TakeOldestQueued).contains("FOR UPDATE"));
        assert!(named(OrderEntryStatement::PayDistrict).starts_with("UPDATE district"));
        assert!(named(OrderEntryStatement::LinesOfOrder).contains("FROM order_line"));
    }
}
