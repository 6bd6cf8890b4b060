//! Counters of SQLite's file and of the process that uses it, under their own names and in the words that all engines share.

use super::connection::session_error;
use super::settings::DatabaseFile;
use crate::server::Counters;
use crate::session::SessionError;
use record::looks::DatabaseCounts;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

/// The kernel's counters of the process in which SQLite and the driver run.
const PROCESS_IO: &str = "/proc/self/io";

const MEANING: &str = "A read or a write is one call of the process that SQLite and the driver share, for a page or a \
                       part of the log. Each session has a cache of its own.";

pub(super) fn read(connection: &Connection, database: &DatabaseFile) -> Result<Counters, SessionError> {
    let pages = |name| {
        let count = connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
        count.map(u64::from).map_err(|error| session_error(&error))
    };
    let mut counters = Counters::from([
        ("wal_bytes".to_owned(), size(&write_ahead_log(&database.file)).unwrap_or(0)),
        ("page_count".to_owned(), pages("page_count")?),
        ("freelist_count".to_owned(), pages("freelist_count")?),
        ("cache_bytes".to_owned(), database.cache_bytes),
    ]);
    counters.extend(size(&database.file).map(|bytes| ("file_bytes".to_owned(), bytes)));
    // Not every kernel counts what a process reads and writes.
    counters.extend(fs::read_to_string(PROCESS_IO).map(|text| process_io(&text)).unwrap_or_default());
    Ok(counters)
}

pub fn in_shared_words(counters: &Counters) -> DatabaseCounts {
    DatabaseCounts {
        meaning: MEANING.to_owned(),
        reads: counters.get("process_syscr").copied(),
        writes: counters.get("process_syscw").copied(),
        data_bytes: counters.get("file_bytes").copied(),
        cache_bytes: counters.get("cache_bytes").copied(),
        ..DatabaseCounts::default()
    }
}

/// The lines of the kernel's file for this process, as counters.
fn process_io(text: &str) -> Counters {
    let pairs = text.lines().filter_map(|line| line.split_once(": "));
    pairs.filter_map(|(name, value)| Some((format!("process_{name}"), value.trim().parse().ok()?))).collect()
}

fn write_ahead_log(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

fn size(path: &Path) -> Option<u64> {
    fs::metadata(path).map(|data| data.len()).ok()
}
