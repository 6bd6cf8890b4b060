//! The statement that asks a server what its sessions wait for at the moment, and the source of the answer.
//!
//! The statement returns class, event and number of sessions, one row for each event that any session waits for. It
//! counts the working sessions of the database it runs in, except its own.

use crate::limit::ReplyLimit;
use crate::server::Endpoint;
use crate::statement::{Dialect, Statement};

/// The statement, and where its answers come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitQuestion {
    pub statement: Statement,
    /// The source of the answer, and what it leaves out.
    pub source: String,
}

/// The question for this server, or the reason why there is none.
pub fn question(endpoint: &Endpoint) -> Result<WaitQuestion, String> {
    let ask = |sql: &str, source: String| WaitQuestion {
        statement: Statement { name: "waits", sql: sql.to_owned() },
        source,
    };
    match endpoint.dialect() {
        Dialect::Sqlite => {
            Err("SQLite runs inside the load engine and has no server whose sessions could be seen".to_owned())
        }
        Dialect::Postgres => Ok(ask(include_str!("postgres/sql/waits.sql"), "pg_stat_activity".to_owned())),
        Dialect::Mysql => Ok(match why_no_waits(endpoint) {
            None => ask(
                include_str!("mysql/sql/waits.sql"),
                "performance_schema.events_waits_current; locks of rows from information_schema.innodb_trx".to_owned(),
            ),
            Some(why) => ask(
                include_str!("mysql/sql/states.sql"),
                format!(
                    "information_schema.processlist, because {why}: a state says what a session does, not whether it \
                     waits; locks of rows are from information_schema.innodb_trx"
                ),
            ),
        }),
    }
}

/// Why MariaDB's performance schema cannot report the waits of sessions; `None` if it can.
fn why_no_waits(endpoint: &Endpoint) -> Option<String> {
    let mut tells = false;
    let asked = crate::catalog::admin(endpoint).and_then(|mut admin| {
        admin.ask(include_str!("mysql/sql/tells_waits.sql"), ReplyLimit::QUESTION, &mut |rows, row| {
            tells = rows.integer(row, 0).is_ok_and(|tells| tells == 1);
        })
    });
    match asked {
        Ok(()) if tells => None,
        Ok(()) => Some(
            "performance_schema is off (performance_schema = true in the study's engine switches it on)".to_owned(),
        ),
        Err(error) => Some(format!("performance_schema cannot be read: {error}")),
    }
}
