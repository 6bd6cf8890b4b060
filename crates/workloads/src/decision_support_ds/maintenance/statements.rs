//! The statements of the maintenance functions, by name.

use crate::sql::{self, SqlError, filled};
use engines::statement::{ByDialect, Statement};

sql::statement_names! {
    /// A statement.
    pub enum MaintenanceStatement {
        Take => "take",
        Used => "used",
        StageOrder => "stage-order",
        StageLine => "stage-line",
        StageReturn => "stage-return",
        ClearOrders => "clear-orders",
        ClearLines => "clear-lines",
        ClearReturns => "clear-returns",
        InsertStoreSales => "insert-store-sales",
        InsertCatalogSales => "insert-catalog-sales",
        InsertWebSales => "insert-web-sales",
        InsertStoreReturns => "insert-store-returns",
        InsertCatalogReturns => "insert-catalog-returns",
        InsertWebReturns => "insert-web-returns",
        InsertInventory => "insert-inventory",
        DeleteStoreReturns => "delete-store-returns",
        DeleteStoreSales => "delete-store-sales",
        DeleteCatalogReturns => "delete-catalog-returns",
        DeleteCatalogSales => "delete-catalog-sales",
        DeleteWebReturns => "delete-web-returns",
        DeleteWebSales => "delete-web-sales",
        DeleteInventory => "delete-inventory",
    }
}

/// What dialects write differently: a product of two amounts, rounded to cents, and 1.00. SQLite has whole hundredths of both,
/// none of which is negative here.
const DIFFERENT: [&str; 3] = ["{cents_of}", "{rounded}", "{one}"];
const ON_SERVERS: [&str; DIFFERENT.len()] = ["ROUND(", ", 2)", "1"];
const IN_DIALECTS: ByDialect<[&str; DIFFERENT.len()]> =
    ByDialect { sqlite: ["((", ") + 50) / 100", "100"], postgres: ON_SERVERS, mysql: ON_SERVERS };

/// All statements in the order of their ids.
pub fn read() -> Result<ByDialect<Vec<Statement>>, SqlError> {
    IN_DIALECTS.try_map(|words| {
        let words: Vec<_> = DIFFERENT.into_iter().zip(words).collect();
        let statements = sql::statements(MaintenanceStatement::NAMES, include_str!("../sql/maintenance.sql"), "")?;
        Ok(statements
            .into_iter()
            .map(|statement| Statement { sql: filled(&statement.sql, &words), ..statement })
            .collect())
    })
}
