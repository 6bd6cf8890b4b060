//! The way in which a workload's transactions reach the database. These are keys of a workload, because they change what
//! is measured.

use engines::batch::Sending;
use engines::statement::Dialect;
use settings::{Problem, names};

names! {
    /// Where a transaction is executed.
    pub enum Transactions {
        /// In the client, which sends its statements.
        Client => "client",
        /// In the database, which the client calls once for each transaction.
        Procedures => "procedures",
    }
}

names! {
    /// How a client sends the statements of a transaction.
    pub enum StatementSending {
        Plain => "plain",
        Pipelined => "pipelined",
    }
}

impl StatementSending {
    pub fn sending(self) -> Sending {
        match self {
            Self::Plain => Sending::OneByOne,
            Self::Pipelined => Sending::Together,
        }
    }
}

/// What does not go together in a workload's table.
pub fn check(transactions: Transactions, statements: StatementSending) -> Result<(), Vec<Problem>> {
    if (transactions, statements) != (Transactions::Procedures, StatementSending::Pipelined) {
        return Ok(());
    }
    let expected = "\"plain\", because a client that calls procedures has one request for each transaction";
    Err(vec![Problem::new("statements", "found \"pipelined\"", expected)])
}

/// Whether a database has procedures at all.
pub fn check_dialect(transactions: Transactions, dialect: Dialect) -> Result<(), Vec<Problem>> {
    if (transactions, dialect) != (Transactions::Procedures, Dialect::Sqlite) {
        return Ok(());
    }
    let expected = "\"client\", because SQLite has no procedures";
    Err(vec![Problem::new("transactions", "found \"procedures\"", expected)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures_are_called_one_by_one_and_not_on_sqlite() {
        assert!(check(Transactions::Client, StatementSending::Pipelined).is_ok());
        assert!(check(Transactions::Procedures, StatementSending::Plain).is_ok());
        assert_eq!(check(Transactions::Procedures, StatementSending::Pipelined).unwrap_err()[0].path, "statements");
        assert!(check_dialect(Transactions::Client, Dialect::Sqlite).is_ok());
        assert!(check_dialect(Transactions::Procedures, Dialect::Postgres).is_ok());
        assert_eq!(check_dialect(Transactions::Procedures, Dialect::Sqlite).unwrap_err()[0].path, "transactions");
    }
}
