//! SQLite's settings: keys, profiles, and how a profile derives them from a machine's shape.

use crate::server::{ServerError, ServerShape};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use settings::{Holds, keys, names};
use std::net::SocketAddr;
use std::path::PathBuf;

keys! {
    /// The table of a study, read.
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct SqliteSettings {
        profile: Profile = "durable", Holds::Choice(Profile::NAMES),
            "durable: every commit is flushed (synchronous = full); relaxed: commits since the last checkpoint may \
             be lost in a power cut, the file stays whole (synchronous = normal)";
        journal_mode: String = "wal", Holds::Choice(&["wal", "delete", "truncate", "persist"]),
            "how a commit is made safe: by a write-ahead log, or by a journal of the pages before it, which a commit \
             deletes, truncates or overwrites; a deleted journal is back after a power cut unless synchronous = extra";
        synchronous: Option<String> = "", Holds::Choice(&["off", "normal", "full", "extra"]),
            "when SQLite flushes to the disk; set by the profile";
        cache: Option<u64> = "", Holds::Size { min: 64 << 10, max: 1 << 40 },
            "page cache of each session; a sixty-fourth of the machine's memory if absent";
        busy_timeout: u64 = "10s", Holds::Span { min_ms: 0, max_ms: 3_600_000 },
            "how long a session waits for another's write lock before it gives the transaction up";
        wal_autocheckpoint: u64 = "1000", Holds::Integer { min: 0, max: 1 << 24 },
            "pages in the write-ahead log at which a commit copies them into the database; 0 never does";
    }
}

/// Each session may cache this fraction of the machine's memory. Each has its own cache, so sixteen of them take a
/// quarter of the memory. The rest is left to the operating system, which caches the file once for all.
const CACHE_SHARE: u64 = 64;

/// About SQLite's own default, and the least that is useful.
const SMALLEST_CACHE_BYTES: u64 = 2 << 20;

names! {
    enum Profile {
        Durable => "durable",
        Relaxed => "relaxed",
    }
}

/// The file, and the settings of every connection to it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DatabaseFile {
    pub file: PathBuf,
    pub journal_mode: String,
    pub synchronous: String,
    pub cache_bytes: u64,
    pub busy_timeout_ms: u64,
    pub wal_autocheckpoint_pages: u64,
}

impl DatabaseFile {
    pub fn new(file: PathBuf, table: &Map<String, Value>, shape: &ServerShape) -> Result<Self, ServerError> {
        let settings: SqliteSettings = serde_json::from_value(Value::Object(table.clone()))
            .map_err(|error| ServerError::Settings { engine: super::KIND.to_owned(), why: error.to_string() })?;
        let of_profile = match settings.profile {
            Profile::Durable => "full",
            Profile::Relaxed => "normal",
        };
        let cache_bytes = (shape.memory_bytes / CACHE_SHARE).max(SMALLEST_CACHE_BYTES);
        Ok(Self {
            file,
            journal_mode: settings.journal_mode,
            synchronous: settings.synchronous.unwrap_or_else(|| of_profile.to_owned()),
            cache_bytes: settings.cache.unwrap_or(cache_bytes),
            busy_timeout_ms: settings.busy_timeout,
            wal_autocheckpoint_pages: settings.wal_autocheckpoint,
        })
    }

    /// An in-process database cannot be reached from outside, so nothing changes.
    #[must_use]
    pub fn reached_at(self, _: SocketAddr) -> Self {
        self
    }

    /// Sessions have no defaults that an owner could change.
    #[must_use]
    pub fn for_sql(self, _: bool) -> Self {
        self
    }

    /// The process that uses it serves itself.
    pub fn is_served_here(&self) -> bool {
        false
    }

    pub fn port(&self) -> Option<u16> {
        None
    }

    pub fn shown(&self, scheme: &str) -> String {
        format!("{scheme}:{}", self.file.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_GIB: ServerShape = ServerShape { vcpus: 2, memory_bytes: 2 << 30 };

    fn made(words: &str, shape: &ServerShape) -> DatabaseFile {
        let table = settings::check(&serde_json::from_str(words).unwrap(), KEYS).unwrap();
        DatabaseFile::new("shop.db".into(), &table, shape).unwrap()
    }

    #[test]
    fn defaults_are_durable_and_sized_from_the_memory() {
        let expected = DatabaseFile {
            file: "shop.db".into(),
            journal_mode: "wal".to_owned(),
            synchronous: "full".to_owned(),
            cache_bytes: 32 << 20,
            busy_timeout_ms: 10_000,
            wal_autocheckpoint_pages: 1000,
        };
        assert_eq!(made("{}", &TWO_GIB), expected);
    }

    #[test]
    fn a_key_goes_before_the_profile() {
        let words = r#"{ "profile": "relaxed", "synchronous": "off", "cache": "8MiB", "wal_autocheckpoint": 0 }"#;
        let settings = made(words, &TWO_GIB);
        assert_eq!((settings.synchronous.as_str(), settings.cache_bytes), ("off", 8 << 20));
        assert_eq!(settings.wal_autocheckpoint_pages, 0);
    }

    #[test]
    fn the_way_of_the_journal_is_given_beside_the_profile() {
        let settings = made(r#"{ "journal_mode": "delete", "synchronous": "extra" }"#, &TWO_GIB);
        assert_eq!((settings.journal_mode.as_str(), settings.synchronous.as_str()), ("delete", "extra"));
    }

    #[test]
    fn the_relaxed_profile_flushes_at_checkpoints_only() {
        assert_eq!(made(r#"{ "profile": "relaxed" }"#, &TWO_GIB).synchronous, "normal");
    }

    #[test]
    fn a_tiny_machine_keeps_the_library_default() {
        let tiny = ServerShape { vcpus: 1, memory_bytes: 64 << 20 };
        assert_eq!(made("{}", &tiny).cache_bytes, 2 << 20);
    }
}
