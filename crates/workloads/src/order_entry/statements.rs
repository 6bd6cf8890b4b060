//! The statements of the transactions, by name.

use crate::sql::{self, SqlError};
use engines::statement::{Dialect, Statement, StatementId};

const SHARED: &str = include_str!("sql/transactions.sql");
const POSTGRES: &str = include_str!("sql/transactions.postgres.sql");
const MYSQL: &str = include_str!("sql/transactions.mysql.sql");
const SQLITE: &str = "";

settings::names! {
    /// Position in the list of prepared statements.
    #[repr(u16)]
    pub enum Sql {
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

impl Sql {
    pub fn id(self) -> StatementId {
        StatementId(self as u16)
    }
}

/// Every dialect's statements, read once.
#[derive(Debug)]
pub struct Statements {
    sqlite: Vec<Statement>,
    postgres: Vec<Statement>,
    mysql: Vec<Statement>,
}

impl Statements {
    pub fn read() -> Result<Self, SqlError> {
        Ok(Self {
            sqlite: sql::statements(Sql::NAMES, SHARED, SQLITE)?,
            postgres: sql::statements(Sql::NAMES, SHARED, POSTGRES)?,
            mysql: sql::statements(Sql::NAMES, SHARED, MYSQL)?,
        })
    }

    pub fn of(&self, dialect: Dialect) -> &[Statement] {
        match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Postgres => &self.postgres,
            Dialect::Mysql => &self.mysql,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_and_the_names_belong_together() {
        let statements = Statements::read().unwrap();
        assert_eq!(statements.of(Dialect::Sqlite).len(), Sql::LowStock as usize + 1);
        let named = |sql: Sql| statements.of(Dialect::Postgres)[sql as usize].sql.as_str();
        assert!(named(Sql::LowStock).contains("COUNT(DISTINCT"));
        assert!(named(Sql::TakeOldestQueued).contains("FOR UPDATE"));
        assert!(named(Sql::PayDistrict).starts_with("UPDATE district"));
        assert!(named(Sql::LinesOfOrder).contains("FROM order_line"));
    }
}
