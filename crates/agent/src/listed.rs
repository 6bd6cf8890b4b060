//! A list, in a database that belongs to the user, of the tables and routines that bakeoff makes there. It is written before they
//! are made, so that it also has those of a killed run. A table or routine that is not on it belongs to the user and is never dropped
//! or replaced.

use crate::loading::LoadError;
use engines::admin::Admin;
use engines::limit::ReplyLimit;
use engines::session::SessionError;
use engines::statement::Dialect;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

const LIST: &str = "bakeoff_tables";
/// The names of routines end with it.
const ROUTINE: &str = "()";
/// The column with how a table was made, from the end of its loading on.
const SHAPE: &str = "shape";
/// For tables that an old version has loaded, whose list had no such column.
const UNKNOWN: &str = "unknown";

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
pub(crate) enum ListedTable<'a> {
    /// Those of a workload, also what a killed trial has left of it.
    OfWorkload(&'a str),
    /// Those of trials, whatever their workload.
    OfTrials,
}

impl ListedTable<'_> {
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
         place INTEGER NOT NULL, stay VARCHAR(20) NOT NULL, {SHAPE} TEXT);\n"
    );
    let written = admin.has_table(LIST).and_then(|is_there| {
        if is_there && !has_shapes(admin)? {
            admin.script(&format!("ALTER TABLE {LIST} ADD COLUMN {SHAPE} TEXT"))?;
            admin.script(&format!("UPDATE {LIST} SET {SHAPE} = '{UNKNOWN}'"))?;
        }
        // A user who drops a table without bakeoff leaves its name on the list.
        let forget = format!("DELETE FROM {LIST} WHERE name IN ({});\n", quoted(names));
        let add = format!("INSERT INTO {LIST} (name, workload, place, stay) VALUES {};\n", rows.join(", "));
        admin.script(&((if is_there { forget } else { make }) + &add))
    });
    written.map_err(|source| LoadError::Script { doing: "listing the tables to be made", source })
}

fn has_shapes(admin: &mut dyn Admin) -> Result<bool, SessionError> {
    let column = format!("column {SHAPE} ");
    Ok(admin.shape(LIST)?.iter().any(|line| line.starts_with(&column)))
}

/// Notes how the listed tables are made, once they are loaded.
pub(crate) fn note_shapes(names: &[String], admin: &mut dyn Admin, dialect: Dialect) -> Result<(), LoadError> {
    let noted = names.iter().filter(|name| !is_routine(name)).try_for_each(|name| {
        let shape = admin.shape(name)?.join("\n").replace('\'', "''");
        let shape = if dialect == Dialect::Mysql { shape.replace('\\', r"\\") } else { shape };
        admin.script(&format!("UPDATE {LIST} SET {SHAPE} = '{shape}' WHERE name = '{name}'"))
    });
    noted.map_err(|source| LoadError::Script { doing: "noting how the tables were made", source })
}

/// How a table is made now, compared with how it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reshaped {
    /// Loading was broken off.
    NotLoaded {
        table: String,
    },
    Changed {
        table: String,
        gone: Vec<String>,
        new: Vec<String>,
    },
}

impl fmt::Display for Reshaped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded { table } => write!(formatter, "{table} was not loaded to its end"),
            Self::Changed { table, gone, new } => {
                let of =
                    |what: &str, lines: &[String]| (!lines.is_empty()).then(|| format!("{what} {}", lines.join("; ")));
                let all: Vec<_> = [of("without", gone), of("with", new)].into_iter().flatten().collect();
                write!(formatter, "{table} is not as it was loaded: {}", all.join(", and "))
            }
        }
    }
}

/// Those of these tables that are listed, and not as loading left them.
pub(crate) fn reshaped(tables: &[String], admin: &mut dyn Admin) -> Result<Vec<Reshaped>, SessionError> {
    let mut noted = shapes(admin)?;
    noted.retain(|name, shape| tables.contains(name) && shape != UNKNOWN && !is_routine(name));
    let mut found = Vec::new();
    for (table, shape) in noted {
        let is = admin.shape(&table)?;
        let was: Vec<&str> = shape.lines().collect();
        let gone: Vec<_> =
            was.iter().filter(|line| !is.iter().any(|now| now == *line)).map(ToString::to_string).collect();
        let new: Vec<_> = is.iter().filter(|line| !was.contains(&line.as_str())).cloned().collect();
        if was.is_empty() {
            found.push(Reshaped::NotLoaded { table });
        } else if !gone.is_empty() || !new.is_empty() {
            found.push(Reshaped::Changed { table, gone, new });
        }
    }
    Ok(found)
}

/// The name on the list of a routine.
pub(crate) fn routine(name: &str) -> String {
    format!("{name}{ROUTINE}")
}

pub fn is_routine(name: &str) -> bool {
    name.ends_with(ROUTINE)
}

/// Whether there is a table, or a routine, of this name.
pub(crate) fn exists(name: &str, admin: &mut dyn Admin, dialect: Dialect) -> Result<bool, SessionError> {
    let Some(routine) = name.strip_suffix(ROUTINE) else { return admin.has_table(name) };
    let schema = match dialect {
        // It has none, and no workload asks it for some.
        Dialect::Sqlite => return Ok(false),
        Dialect::Postgres => "current_schema()",
        Dialect::Mysql => "DATABASE()",
    };
    let query = format!(
        "SELECT 1 FROM information_schema.routines WHERE routine_schema = {schema} AND routine_name = '{routine}'"
    );
    let mut is_there = false;
    admin.ask(&query, ReplyLimit::QUESTION, &mut |_, _| is_there = true)?;
    Ok(is_there)
}

/// A user may have dropped a listed table and made another of its name, which has none of its columns.
fn is_ours(name: &str, noted: Option<&String>, admin: &mut dyn Admin) -> Result<bool, SessionError> {
    let Some(noted) = noted.filter(|noted| *noted != UNKNOWN && !noted.is_empty()) else { return Ok(true) };
    let is = admin.shape(name)?;
    Ok(noted.lines().any(|line| line.starts_with("column ") && is.iter().any(|now| now == line)))
}

/// How each listed table was made: empty before the end of its loading.
fn shapes(admin: &mut dyn Admin) -> Result<BTreeMap<String, String>, SessionError> {
    let mut noted = BTreeMap::new();
    if admin.has_table(LIST)? && has_shapes(admin)? {
        let query = format!("SELECT name, COALESCE({SHAPE}, '') FROM {LIST}");
        admin.ask(&query, ReplyLimit::QUESTION, &mut |rows, row| {
            if let (Ok(name), Ok(shape)) = (rows.text(row, 0), rows.text(row, 1)) {
                noted.insert(name.to_owned(), shape.to_owned());
            }
        })?;
    }
    Ok(noted)
}

/// Names of the listed tables and routines that exist, those that may refer to others first.
pub(crate) fn present(
    which: &ListedTable<'_>,
    admin: &mut dyn Admin,
    dialect: Dialect,
) -> Result<Vec<String>, SessionError> {
    let mut listed = Vec::new();
    if admin.has_table(LIST)? {
        let query = format!("SELECT name FROM {LIST} WHERE {} ORDER BY place DESC, name", which.condition());
        admin.ask(&query, ReplyLimit::QUESTION, &mut |rows, row| {
            listed.push(rows.text(row, 0).unwrap_or_default().to_owned());
        })?;
    }
    let shapes = shapes(admin)?;
    let mut present = Vec::new();
    for name in listed {
        if is_plain(&name) && exists(&name, admin, dialect)? && is_ours(&name, shapes.get(&name), admin)? {
            present.push(name);
        }
    }
    Ok(present)
}

/// Returns the names of the dropped tables, in the order in which they were made. SQLite drops one at a time; the other
/// databases drop all or none.
pub(crate) fn drop(which: &ListedTable<'_>, admin: &mut dyn Admin, dialect: Dialect) -> Result<Vec<String>, LoadError> {
    let dropped = present(which, admin, dialect).and_then(|mut present| {
        let (routines, tables): (Vec<&str>, Vec<&str>) =
            present.iter().map(String::as_str).partition(|name| is_routine(name));
        match dialect {
            _ if tables.is_empty() => {}
            // SQLite drops the tables below an index for words with the index.
            Dialect::Sqlite => {
                tables.iter().try_for_each(|name| admin.script(&format!("DROP TABLE IF EXISTS {name}")))?;
            }
            Dialect::Postgres | Dialect::Mysql => admin.script(&format!("DROP TABLE {}", tables.join(", ")))?,
        }
        let kind = if dialect == Dialect::Mysql { "PROCEDURE" } else { "FUNCTION" };
        for routine in routines {
            admin.script(&format!("DROP {kind} {}", routine.trim_end_matches(ROUTINE)))?;
        }
        forget(which, admin)?;
        present.reverse();
        Ok(present)
    });
    dropped.map_err(|source| LoadError::Script { doing: "dropping the tables that bakeoff made", source })
}

/// Takes them off the list, and the list away with the last of them.
fn forget(which: &ListedTable<'_>, admin: &mut dyn Admin) -> Result<(), SessionError> {
    if !admin.has_table(LIST)? {
        return Ok(());
    }
    admin.script(&format!("DELETE FROM {LIST} WHERE {}", which.condition()))?;
    let mut is_empty = true;
    admin.ask(&format!("SELECT name FROM {LIST}"), ReplyLimit::QUESTION, &mut |_, _| is_empty = false)?;
    if is_empty { admin.script(&format!("DROP TABLE {LIST}")) } else { Ok(()) }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// Whether it is a name that needs no quotes. The list is the user's to write, too.
fn is_plain(name: &str) -> bool {
    let name = name.strip_suffix(ROUTINE).unwrap_or(name);
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_letter)
}
