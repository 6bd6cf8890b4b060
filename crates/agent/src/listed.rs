//! A list, in a database that belongs to the user, of the tables that bakeoff makes there. It is written before the tables
//! are made, so that it also has those of a killed run. A table that is not on it belongs to the user and is never dropped.

use crate::loading::LoadError;
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::SessionError;
use engines::statement::Dialect;
use serde::{Deserialize, Serialize};

const LIST: &str = "bakeoff_tables";

/// How long listed tables stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stay {
    /// The next trial of any study drops what is left of them.
    OneTrial,
    /// Only the user has them dropped.
    UntilCleaned,
}

impl Stay {
    fn word(self) -> &'static str {
        match self {
            Self::OneTrial => "one trial",
            Self::UntilCleaned => "until cleaned",
        }
    }
}

/// Which of the listed tables.
pub(crate) enum Which<'a> {
    /// Those of a workload, also what a killed trial has left of it.
    OfWorkload(&'a str),
    /// Those of trials, whatever their workload.
    OfTrials,
}

impl Which<'_> {
    fn condition(&self) -> String {
        match self {
            Self::OfWorkload(kind) => format!("workload = '{kind}'"),
            Self::OfTrials => format!("stay = '{}'", Stay::OneTrial.word()),
        }
    }
}

/// Lists tables that do not exist yet. A table may refer to those before it. A workload may have none.
pub(crate) fn list(kind: &str, names: &[String], stay: Stay, admin: &mut dyn Admin) -> Result<(), LoadError> {
    if names.is_empty() {
        return Ok(());
    }
    let rows: Vec<String> = (0..)
        .zip(names)
        .map(|(place, name): (u32, _)| format!("('{name}', '{kind}', {place}, '{}')", stay.word()))
        .collect();
    let make = format!(
        "CREATE TABLE {LIST} (name VARCHAR(100) NOT NULL PRIMARY KEY, workload VARCHAR(100) NOT NULL, \
         place INTEGER NOT NULL, stay VARCHAR(20) NOT NULL);\n"
    );
    let written = admin.has_table(LIST).and_then(|is_there| {
        // A user who drops a table without bakeoff leaves its name on the list.
        let forget = format!("DELETE FROM {LIST} WHERE name IN ({});\n", quoted(names));
        let add = format!("INSERT INTO {LIST} (name, workload, place, stay) VALUES {};\n", rows.join(", "));
        admin.script(&((if is_there { forget } else { make }) + &add))
    });
    written.map_err(|source| LoadError::Script { doing: "listing the tables to be made", source })
}

/// Names of the listed tables that exist, those that may refer to others first.
pub(crate) fn present(which: &Which<'_>, admin: &mut dyn Admin) -> Result<Vec<String>, SessionError> {
    let mut listed = Vec::new();
    if admin.has_table(LIST)? {
        let query = format!("SELECT name FROM {LIST} WHERE {} ORDER BY place DESC, name", which.condition());
        admin.ask(&query, Limit::QUESTION, &mut |rows, row| {
            listed.push(rows.text(row, 0).unwrap_or_default().to_owned());
        })?;
    }
    let mut present = Vec::new();
    for name in listed {
        if is_plain(&name) && admin.has_table(&name)? {
            present.push(name);
        }
    }
    Ok(present)
}

/// Returns the names of the dropped tables, in the order in which they were made. SQLite drops one at a time; the other
/// databases drop all or none.
pub(crate) fn drop(which: &Which<'_>, admin: &mut dyn Admin, dialect: Dialect) -> Result<Vec<String>, LoadError> {
    let dropped = present(which, admin).and_then(|mut present| {
        match dialect {
            _ if present.is_empty() => {}
            // SQLite drops the tables below an index for words with the index.
            Dialect::Sqlite => {
                present.iter().try_for_each(|name| admin.script(&format!("DROP TABLE IF EXISTS {name}")))?;
            }
            Dialect::Postgres | Dialect::Mysql => admin.script(&format!("DROP TABLE {}", present.join(", ")))?,
        }
        forget(which, admin)?;
        present.reverse();
        Ok(present)
    });
    dropped.map_err(|source| LoadError::Script { doing: "dropping the tables that bakeoff made", source })
}

/// Takes them off the list, and the list away with the last of them.
fn forget(which: &Which<'_>, admin: &mut dyn Admin) -> Result<(), SessionError> {
    if !admin.has_table(LIST)? {
        return Ok(());
    }
    admin.script(&format!("DELETE FROM {LIST} WHERE {}", which.condition()))?;
    let mut is_empty = true;
    admin.ask(&format!("SELECT name FROM {LIST}"), Limit::QUESTION, &mut |_, _| is_empty = false)?;
    if is_empty { admin.script(&format!("DROP TABLE {LIST}")) } else { Ok(()) }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// Whether it is a name that needs no quotes. The list is the user's to write, too.
fn is_plain(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_letter)
}
