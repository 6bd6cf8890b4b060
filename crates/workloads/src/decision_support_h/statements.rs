//! The statements of the refresh functions, by name. Questions are texts of their own.

use crate::sql::{self, SqlError};
use engines::statement::{Statement, StatementId};

settings::names! {
    /// A statement.
    #[repr(u16)]
    pub enum Sql {
        TakeInserted => "take-inserted",
        TakeDeleted => "take-deleted",
        Sets => "sets",
        InsertOrder => "insert-order",
        InsertLine => "insert-line",
        DeleteLines => "delete-lines",
        DeleteOrder => "delete-order",
    }
}

impl From<Sql> for StatementId {
    fn from(sql: Sql) -> Self {
        Self(sql as u16)
    }
}

/// All statements in the order of their ids.
pub fn read() -> Result<Vec<Statement>, SqlError> {
    sql::statements(Sql::NAMES, include_str!("sql/refresh.sql"), "")
}
