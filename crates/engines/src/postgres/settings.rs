//! PostgreSQL's settings: keys, profiles, and what a profile makes of a machine's shape.
//!
//! All are given on the server's command line, which goes before every file. So the data folder carries no settings,
//! and the same loaded data serves trials with different ones.

use crate::server::{ServerError, ServerShape};
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::{Holds, Key};
use std::collections::BTreeMap;

const OF_PROFILE: Option<&str> = Some("");
const LONGEST_CHECKPOINT_MS: u64 = 24 * 3_600_000;
const ONE_TIB: u64 = 1 << 40;

pub const KEYS: &[Key] = &[
    Key {
        name: "profile",
        holds: Holds::Choice(&["sized", "stock"]),
        default: Some("sized"),
        meaning: "sized: memory, parallelism and checkpoints from the machine's shape, durable; stock: as PostgreSQL comes",
    },
    Key {
        name: "isolation",
        holds: Holds::Choice(&["read committed", "repeatable read", "serializable"]),
        default: Some("read committed"),
        meaning: "isolation of every transaction (default_transaction_isolation)",
    },
    Key {
        name: "shared_buffers",
        holds: Holds::Size { min: 128 << 10, max: ONE_TIB },
        default: OF_PROFILE,
        meaning: "the server's own cache; sized: a quarter of the memory",
    },
    Key {
        name: "work_mem",
        holds: Holds::Size { min: 64 << 10, max: ONE_TIB },
        default: OF_PROFILE,
        meaning: "memory of one sort or hash; sized: a share of the memory for each connection",
    },
    Key {
        name: "max_connections",
        holds: Holds::Integer { min: 1, max: 10_000 },
        default: OF_PROFILE,
        meaning: "sessions that may be open at once; sized: one for each 8 MiB of memory, 100 to 2000",
    },
    Key {
        name: "max_wal_size",
        holds: Holds::Size { min: 32 << 20, max: ONE_TIB },
        default: OF_PROFILE,
        meaning: "write-ahead log between two checkpoints; sized: as large as the memory, 1 to 16 GiB",
    },
    Key {
        name: "checkpoint_timeout",
        holds: Holds::Span { min_ms: 30_000, max_ms: LONGEST_CHECKPOINT_MS },
        default: OF_PROFILE,
        meaning: "time between two checkpoints; sized: 15 minutes",
    },
    Key {
        name: "synchronous_commit",
        holds: Holds::Choice(&["on", "off", "local"]),
        default: OF_PROFILE,
        meaning: "whether a commit waits for the disk; sized: on",
    },
    Key {
        name: "fsync",
        holds: Holds::Boolean,
        default: OF_PROFILE,
        meaning: "whether the disk is asked to keep anything at all; sized: true",
    },
    Key {
        name: "full_page_writes",
        holds: Holds::Boolean,
        default: OF_PROFILE,
        meaning: "whole pages in the log after a checkpoint, against torn pages; sized: true",
    },
    Key {
        name: "autovacuum",
        holds: Holds::Boolean,
        default: OF_PROFILE,
        meaning: "cleaning up while running; on as PostgreSQL comes",
    },
    Key {
        name: "huge_pages",
        holds: Holds::Choice(&["off", "on", "try"]),
        default: OF_PROFILE,
        meaning: "large memory pages for the server's cache; try as PostgreSQL comes",
    },
];

/// The table of a study, checked. Sizes are bytes, spans milliseconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    profile: Profile,
    isolation: String,
    shared_buffers: Option<u64>,
    work_mem: Option<u64>,
    max_connections: Option<u64>,
    max_wal_size: Option<u64>,
    checkpoint_timeout: Option<u64>,
    synchronous_commit: Option<String>,
    fsync: Option<bool>,
    full_page_writes: Option<bool>,
    autovacuum: Option<bool>,
    huge_pages: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Profile {
    Sized,
    Stock,
}

/// Settings by PostgreSQL's own names, as its command line takes them.
pub type ServerSettings = BTreeMap<&'static str, String>;

/// The profile, with the study's own settings over it.
pub fn of(table: &Map<String, Value>, shape: &ServerShape) -> Result<ServerSettings, ServerError> {
    let refused = |why| ServerError::Settings { engine: super::KIND.to_owned(), why };
    let written: Written =
        serde_json::from_value(Value::Object(table.clone())).map_err(|error| refused(error.to_string()))?;
    let mut settings = match written.profile {
        Profile::Sized => sized(shape),
        Profile::Stock => ServerSettings::new(),
    };
    let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
    let own = [
        ("default_transaction_isolation", Some(written.isolation)),
        ("shared_buffers", written.shared_buffers.map(kib)),
        ("work_mem", written.work_mem.map(kib)),
        ("max_connections", written.max_connections.map(|count| count.to_string())),
        ("max_wal_size", written.max_wal_size.map(mib)),
        ("checkpoint_timeout", written.checkpoint_timeout.map(|span_ms| format!("{}s", span_ms.div_ceil(1000)))),
        ("synchronous_commit", written.synchronous_commit),
        ("fsync", written.fsync.map(switch)),
        ("full_page_writes", written.full_page_writes.map(switch)),
        ("autovacuum", written.autovacuum.map(switch)),
        ("huge_pages", written.huge_pages),
    ];
    settings.extend(own.into_iter().filter_map(|(name, value)| Some((name, value?))));
    Ok(settings)
}

/// What the profile `sized` makes of a shape: the rules of thumb of PostgreSQL's own documentation, for a machine that
/// does nothing else and whose disk has no moving parts.
fn sized(ServerShape { vcpus, memory_bytes }: &ServerShape) -> ServerSettings {
    let memory = *memory_bytes;
    let connections = (memory / BYTES_PER_CONNECTION).clamp(100, 2000);
    // What the shared cache leaves, if every connection sorted and hashed three things at once.
    let work = (memory / 4 * 3 / connections / 3).clamp(4 << 20, 64 << 20);
    let log = memory.clamp(1 << 30, 16 << 30);
    let workers = *vcpus;
    ServerSettings::from([
        ("shared_buffers", kib(memory / 4)),
        ("effective_cache_size", kib(memory / 4 * 3)),
        ("work_mem", kib(work)),
        ("maintenance_work_mem", kib((memory / 16).clamp(64 << 20, 2 << 30))),
        ("max_connections", connections.to_string()),
        ("max_wal_size", mib(log)),
        ("min_wal_size", mib(log / 4)),
        ("checkpoint_timeout", "900s".to_owned()),
        ("random_page_cost", "1.1".to_owned()),
        ("max_worker_processes", workers.max(8).to_string()),
        ("max_parallel_workers", workers.to_string()),
        ("max_parallel_workers_per_gather", (workers / 2).clamp(0, 4).to_string()),
        ("max_parallel_maintenance_workers", (workers / 2).clamp(1, 4).to_string()),
        ("fsync", "on".to_owned()),
        ("synchronous_commit", "on".to_owned()),
        ("full_page_writes", "on".to_owned()),
    ])
}

/// Memory that has to be there for each connection that is allowed: about what an idle backend and its caches take.
const BYTES_PER_CONNECTION: u64 = 8 << 20;

fn kib(bytes: u64) -> String {
    format!("{}kB", bytes >> 10)
}

fn mib(bytes: u64) -> String {
    format!("{}MB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(words: &str, vcpus: u32, memory_bytes: u64) -> Vec<String> {
        let table = settings::check(&serde_json::from_str(words).unwrap(), KEYS).unwrap();
        let settings = of(&table, &ServerShape { vcpus, memory_bytes }).unwrap();
        settings.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn a_small_machine() {
        insta::assert_snapshot!(settings("{}", 2, 2 << 30).join("\n"), @"
        checkpoint_timeout=900s
        default_transaction_isolation=read committed
        effective_cache_size=1572864kB
        fsync=on
        full_page_writes=on
        maintenance_work_mem=131072kB
        max_connections=256
        max_parallel_maintenance_workers=1
        max_parallel_workers=2
        max_parallel_workers_per_gather=1
        max_wal_size=2048MB
        max_worker_processes=8
        min_wal_size=512MB
        random_page_cost=1.1
        shared_buffers=524288kB
        synchronous_commit=on
        work_mem=4096kB
        ");
    }

    #[test]
    fn a_large_machine() {
        insta::assert_snapshot!(settings("{}", 64, 512 << 30).join("\n"), @"
        checkpoint_timeout=900s
        default_transaction_isolation=read committed
        effective_cache_size=402653184kB
        fsync=on
        full_page_writes=on
        maintenance_work_mem=2097152kB
        max_connections=2000
        max_parallel_maintenance_workers=4
        max_parallel_workers=64
        max_parallel_workers_per_gather=4
        max_wal_size=16384MB
        max_worker_processes=64
        min_wal_size=4096MB
        random_page_cost=1.1
        shared_buffers=134217728kB
        synchronous_commit=on
        work_mem=65536kB
        ");
    }

    #[test]
    fn stock_sets_only_what_the_study_names() {
        assert_eq!(settings(r#"{ "profile": "stock" }"#, 2, 2 << 30), ["default_transaction_isolation=read committed"]);
    }

    #[test]
    fn a_key_goes_before_the_profile() {
        let words = r#"{
            "profile": "stock", "isolation": "serializable", "shared_buffers": "1GiB", "work_mem": "1MiB",
            "max_connections": 7, "max_wal_size": "2GiB", "checkpoint_timeout": "5m", "synchronous_commit": "off",
            "fsync": false, "full_page_writes": false, "autovacuum": false, "huge_pages": "on"
        }"#;
        insta::assert_snapshot!(settings(words, 2, 2 << 30).join("\n"), @"
        autovacuum=off
        checkpoint_timeout=300s
        default_transaction_isolation=serializable
        fsync=off
        full_page_writes=off
        huge_pages=on
        max_connections=7
        max_wal_size=2048MB
        shared_buffers=1048576kB
        synchronous_commit=off
        work_mem=1024kB
        ");
    }
}
