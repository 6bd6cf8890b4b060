//! SQLite as a server: a file that is created, asked for its settings, and flushed to disk at the end.

use super::connection::{open, session_error};
use super::settings::DatabaseFile;
use crate::server::{Endpoint, FurtherDatabase, Server, ServerError, ServerPlace, ServerReport, ServerShape};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::Map;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const FOLDER: &str = "sqlite";
const FILE: &str = "bakeoff.db";

/// Settings that change what a statement or a commit costs.
const READ_BACK: &[&str] = &[
    "auto_vacuum",
    "automatic_index",
    "busy_timeout",
    "cache_size",
    "cache_spill",
    "encoding",
    "foreign_keys",
    "fullfsync",
    "journal_mode",
    "journal_size_limit",
    "locking_mode",
    "mmap_size",
    "page_size",
    "synchronous",
    "temp_store",
    "threads",
    "wal_autocheckpoint",
];

/// The open file. Sessions open it themselves. This connection keeps the write-ahead log from being checkpointed and
/// deleted whenever the last session closes.
pub struct SqliteServer {
    connection: Connection,
    file: PathBuf,
    report: ServerReport,
}

pub fn start(
    table: &Map<String, serde_json::Value>,
    place: &ServerPlace,
    shape: &ServerShape,
) -> Result<SqliteServer, ServerError> {
    let folder = place.data.join(FOLDER);
    let database = DatabaseFile::new(folder.join(FILE), table, shape)?;
    fs::create_dir_all(&folder)
        .map_err(|source| ServerError::Io { doing: format!("creating {}", folder.display()), source })?;
    let connection = open(&database, None)?;
    let file = database.file.clone();
    let report = configure(&connection, database).map_err(|error| session_error(&error))?;
    Ok(SqliteServer { connection, file, report })
}

fn configure(connection: &Connection, database: DatabaseFile) -> rusqlite::Result<ServerReport> {
    connection.pragma_update(None, "journal_mode", &database.journal_mode)?;
    let (version, effective) = (rusqlite::version().to_owned(), read_back(connection)?);
    Ok(ServerReport { version, effective, endpoint: Endpoint::Sqlite(database) })
}

fn read_back(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut effective = BTreeMap::new();
    for name in READ_BACK {
        let value = connection.pragma_query_value(None, name, |row| row.get::<_, Value>(0))?;
        effective.insert((*name).to_owned(), shown(value));
    }
    let mut options = Vec::new();
    connection.pragma_query(None, "compile_options", |row| {
        options.push(row.get::<_, String>(0)?);
        Ok(())
    })?;
    effective.insert("compile_options".to_owned(), options.join(" "));
    Ok(effective)
}

fn shown(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

impl Server for SqliteServer {
    fn report(&self) -> &ServerReport {
        &self.report
    }

    fn alive(&mut self) -> Result<(), ServerError> {
        fs::metadata(&self.file).map_err(|source| {
            let doing = format!("looking at {}", self.file.display());
            ServerError::Io { doing, source }
        })?;
        let readable = self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        Ok(readable.map_err(|error| session_error(&error))?)
    }

    fn process(&self) -> u32 {
        std::process::id()
    }

    fn open_database(&self, _: u16) -> Result<FurtherDatabase, ServerError> {
        let why = "SQLite has no server that could have several databases".to_owned();
        Err(ServerError::Settings { engine: super::KIND.to_owned(), why })
    }

    fn stop(self: Box<Self>) -> Result<(), ServerError> {
        let Self { connection, file, .. } = *self;
        checkpoint(&connection)?;
        connection.close().map_err(|(_, error)| session_error(&error))?;
        flush(&file)
    }
}

/// Moves the whole write-ahead log into the database.
fn checkpoint(connection: &Connection) -> Result<(), ServerError> {
    let busy = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
        .map_err(|error| session_error(&error))?;
    if busy {
        let why = "a session still uses the file".to_owned();
        return Err(ServerError::Failed { doing: "checkpoint of SQLite".to_owned(), why, log: String::new() });
    }
    Ok(())
}

/// Syncs the file, its folder and the folder above, whatever the synchronous level.
fn flush(file: &Path) -> Result<(), ServerError> {
    for path in file.ancestors().take(3) {
        File::open(path)
            .and_then(|open| open.sync_all())
            .map_err(|source| ServerError::Io { doing: format!("flushing {}", path.display()), source })?;
    }
    Ok(())
}
