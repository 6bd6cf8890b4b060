//! SQLite as a server: a file that is created, read back, and made whole on disk at the end.

use super::connection::{open, session_error};
use super::settings::DatabaseFile;
use crate::server::{Counters, Endpoint, Server, ServerError, ServerPlace, ServerReport, ServerShape};
use record::looks::DatabaseCounts;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::Map;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const FOLDER: &str = "sqlite";
const FILE: &str = "bakeoff.db";

/// What the kernel counts of the process in which SQLite and the driver run.
const PROCESS_IO: &str = "/proc/self/io";

const MEANING: &str = "A read or a write is one call of the process that SQLite and the driver share, for a page or a \
                       part of the log. Each session has a cache of its own.";

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

/// The open file. Sessions open it for themselves; this connection keeps the write-ahead log from being folded up and
/// deleted whenever the last of them closes.
pub struct SqliteServer {
    connection: Connection,
    file: PathBuf,
    report: ServerReport,
    cache_bytes: u64,
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
    let (file, cache_bytes) = (database.file.clone(), database.cache_bytes);
    let report = configure(&connection, Endpoint::Sqlite(database)).map_err(|error| session_error(&error))?;
    Ok(SqliteServer { connection, file, report, cache_bytes })
}

fn configure(connection: &Connection, endpoint: Endpoint) -> rusqlite::Result<ServerReport> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    Ok(ServerReport { version: rusqlite::version().to_owned(), effective: read_back(connection)?, endpoint })
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
        size(&self.file)?;
        let readable = self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        Ok(readable.map_err(|error| session_error(&error))?)
    }

    fn process(&self) -> u32 {
        std::process::id()
    }

    fn counters(&mut self) -> Result<Counters, ServerError> {
        let pages = |name| {
            let count = self.connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
            count.map(u64::from).map_err(|error| session_error(&error))
        };
        let mut counters = Counters::from([
            ("file_bytes".to_owned(), size(&self.file)?),
            ("wal_bytes".to_owned(), size(&write_ahead_log(&self.file)).unwrap_or(0)),
            ("page_count".to_owned(), pages("page_count")?),
            ("freelist_count".to_owned(), pages("freelist_count")?),
            ("cache_bytes".to_owned(), self.cache_bytes),
        ]);
        // Not every kernel counts what a process reads and writes.
        counters.extend(fs::read_to_string(PROCESS_IO).map(|text| process_io(&text)).unwrap_or_default());
        Ok(counters)
    }

    fn in_shared_words(&self, counters: &Counters) -> DatabaseCounts {
        DatabaseCounts {
            meaning: MEANING.to_owned(),
            reads: counters.get("process_syscr").copied(),
            writes: counters.get("process_syscw").copied(),
            data_bytes: counters.get("file_bytes").copied(),
            cache_bytes: counters.get("cache_bytes").copied(),
            ..DatabaseCounts::default()
        }
    }

    fn stop(self: Box<Self>) -> Result<(), ServerError> {
        let Self { connection, file, .. } = *self;
        checkpoint(&connection)?;
        connection.close().map_err(|(_, error)| session_error(&error))?;
        flush(&file)
    }
}

/// The lines of the kernel's account of this process, as counters.
fn process_io(text: &str) -> Counters {
    let pairs = text.lines().filter_map(|line| line.split_once(": "));
    pairs.filter_map(|(name, value)| Some((format!("process_{name}"), value.trim().parse().ok()?))).collect()
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

/// Whatever the synchronous level was: file, names, and the folder's own name.
fn flush(file: &Path) -> Result<(), ServerError> {
    for path in file.ancestors().take(3) {
        File::open(path)
            .and_then(|open| open.sync_all())
            .map_err(|source| ServerError::Io { doing: format!("flushing {}", path.display()), source })?;
    }
    Ok(())
}

fn write_ahead_log(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

fn size(path: &Path) -> Result<u64, ServerError> {
    let metadata = fs::metadata(path);
    metadata
        .map(|data| data.len())
        .map_err(|source| ServerError::Io { doing: format!("looking at {}", path.display()), source })
}
