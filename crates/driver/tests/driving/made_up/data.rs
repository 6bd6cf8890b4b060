//! The bank's tables: accounts, the first of which is the bank's own, and deposits, which are empty at the start.

use engines::rows::RowSink;
use engines::statement::{ByDialect, Statement};
use std::borrow::Cow;
use workloads::dataset::{DataTable, RowSource};

pub const ACCOUNTS: i64 = 64;

pub const TABLES: &[DataTable] = &[
    DataTable { name: Cow::Borrowed("account"), columns: &["a_id", "a_balance", "a_closed"], key: &["a_id"] },
    DataTable {
        name: Cow::Borrowed("deposit"),
        columns: &["d_account", "d_phase", "d_number", "d_confirmed"],
        key: &["d_account", "d_phase", "d_number"],
    },
];

const SCRIPT: &str = "
    CREATE TABLE account (a_id bigint NOT NULL PRIMARY KEY, a_balance bigint NOT NULL, a_closed bigint NOT NULL);
    CREATE TABLE deposit (
        d_account bigint NOT NULL, d_phase bigint NOT NULL, d_number bigint NOT NULL, d_confirmed bigint NOT NULL,
        PRIMARY KEY (d_account, d_phase, d_number)
    );
";

pub const SCHEMA: ByDialect<&str> = ByDialect { sqlite: SCRIPT, postgres: SCRIPT, mysql: SCRIPT };

/// Names of the sums, and the queries for them.
const SUMS: &[(&str, &str)] = &[
    ("deposits", "SELECT count(*) FROM deposit"),
    ("confirmed", "SELECT count(*) FROM deposit WHERE d_confirmed = 1"),
    ("closed", "SELECT a_closed FROM account WHERE a_id = 0"),
    ("phases", "SELECT count(DISTINCT d_phase) FROM deposit"),
];

pub fn expected_rows(table: &str) -> u64 {
    if table == "account" { ACCOUNTS.unsigned_abs() + 1 } else { 0 }
}

struct Accounts {
    left: std::ops::RangeInclusive<i64>,
}

impl RowSource for Accounts {
    fn fill(&mut self, sink: &mut dyn RowSink) -> bool {
        for account in self.left.by_ref() {
            for value in [account, 0, 0] {
                sink.integer(value);
            }
            sink.end_row();
        }
        false
    }
}

pub fn rows(table: &str) -> Box<dyn RowSource> {
    let last = if table == "account" { ACCOUNTS } else { -1 };
    Box::new(Accounts { left: 0..=last })
}

pub fn sums() -> Vec<Statement> {
    SUMS.iter().map(|(name, sql)| Statement { name, sql: (*sql).to_owned() }).collect()
}
