//! The statements of the transactions, by name.

use crate::sql::{self, SqlError};
use engines::statement::{Dialect, Statement, StatementId};

const SHARED: &str = include_str!("sql/transactions.sql");
const POSTGRES: &str = include_str!("sql/transactions.postgres.sql");
const MYSQL: &str = include_str!("sql/transactions.mysql.sql");
const SQLITE: &str = "";

/// Position in the list of prepared statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Sql {
    WarehouseTax,
    TakeOrderNumber,
    CustomerDiscount,
    InsertOrder,
    InsertQueued,
    Item,
    TakeStock,
    InsertLine,
    PayWarehouse,
    PayDistrict,
    CustomersOfName,
    PayCustomer,
    InsertHistory,
    CustomerBalance,
    LastOrder,
    LinesOfOrder,
    TakeOldestQueued,
    Carry,
    DeliverLines,
    CreditDelivery,
    NextOrderNumber,
    LowStock,
}

/// Names in the order of [`Sql`].
const NAMES: &[&str] = &[
    "warehouse-tax",
    "take-order-number",
    "customer-discount",
    "insert-order",
    "insert-queued",
    "item",
    "take-stock",
    "insert-line",
    "pay-warehouse",
    "pay-district",
    "customers-of-name",
    "pay-customer",
    "insert-history",
    "customer-balance",
    "last-order",
    "lines-of-order",
    "take-oldest-queued",
    "carry",
    "deliver-lines",
    "credit-delivery",
    "next-order-number",
    "low-stock",
];

impl Sql {
    pub fn id(self) -> StatementId {
        StatementId(self as u16)
    }

    pub fn name(self) -> &'static str {
        NAMES[self as usize]
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
            sqlite: sql::statements(NAMES, SHARED, SQLITE)?,
            postgres: sql::statements(NAMES, SHARED, POSTGRES)?,
            mysql: sql::statements(NAMES, SHARED, MYSQL)?,
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
