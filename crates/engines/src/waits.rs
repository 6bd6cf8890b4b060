//! What sessions of a server wait for at a moment: the statement that asks it, and from where its answer is.
//!
//! The statement has three columns, class, event and how many sessions, and a row for each event that any session waits for. It
//! counts the sessions that are at work in the database it is asked in, but for the one that asks.

use crate::limit::Limit;
use crate::server::Endpoint;
use crate::statement::{Dialect, Statement};

/// Asking once, and what is to be known of the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitQuestion {
    pub statement: Statement,
    /// From where the server takes the answer, and what that leaves out.
    pub source: String,
}

/// What this server can be asked. An error is the reason why nothing can.
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

/// Why MariaDB's performance schema does not tell the waits of sessions.
fn why_no_waits(endpoint: &Endpoint) -> Option<String> {
    let mut tells = false;
    let asked = crate::catalog::admin(endpoint).and_then(|mut admin| {
        admin.ask(include_str!("mysql/sql/tells_waits.sql"), Limit::QUESTION, &mut |rows, row| {
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
