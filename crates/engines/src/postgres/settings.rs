//! PostgreSQL's settings: keys, profiles, and how a profile derives them from a machine's shape.
//!
//! All but one are given on the server's command line, which overrides every file. So the data folder carries no settings, and
//! the same loaded data serves trials with different settings. Whether pages have checksums is decided with the data folder.

use crate::own_server::{ServerSettings, over_profile, seconds};
use crate::server::{ServerError, ServerShape};
use serde_json::{Map, Value};
use settings::{Holds, Key, keys};

/// The setting that no server can be given, only `initdb`.
pub const DATA_CHECKSUMS: &str = "data_checksums";

const LONGEST_CHECKPOINT_MS: u64 = 24 * 3_600_000;
const ONE_TIB: u64 = 1 << 40;

pub const KEYS: &[Key] = keys! {
    profile = "sized", Holds::Choice(&["sized", "stock"]),
        "sized: memory, parallelism and checkpoints from the machine's shape, durable; stock: as PostgreSQL comes";
    isolation = "read committed", Holds::Choice(&["read committed", "repeatable read", "serializable"]),
        "isolation of every transaction (default_transaction_isolation)";
    shared_buffers = "", Holds::Size { min: 128 << 10, max: ONE_TIB },
        "the server's own cache; sized: a quarter of the memory";
    work_mem = "", Holds::Size { min: 64 << 10, max: ONE_TIB },
        "memory of one sort or hash; sized: a share of the memory for each connection";
    max_connections = "", Holds::Integer { min: 1, max: 10_000 },
        "sessions that may be open at once; sized: one for each 8 MiB of memory, 100 to 2000";
    max_wal_size = "", Holds::Size { min: 32 << 20, max: ONE_TIB },
        "write-ahead log between two checkpoints; sized: as large as the memory, 1 to 16 GiB";
    checkpoint_timeout = "", Holds::Span { min_ms: 30_000, max_ms: LONGEST_CHECKPOINT_MS },
        "time between two checkpoints; sized: 15 minutes";
    synchronous_commit = "", Holds::Choice(&["on", "off", "local"]), "whether a commit waits for the disk; sized: on";
    fsync = "", Holds::Boolean, "whether the disk is asked to keep anything at all; sized: true";
    full_page_writes = "", Holds::Boolean, "whole pages in the log after a checkpoint, against torn pages; sized: true";
    autovacuum = "", Holds::Boolean, "cleaning up while running; on as PostgreSQL comes";
    data_checksums = "", Holds::Boolean,
        "whether pages have checksums, which is decided when the database is made; off as PostgreSQL comes before 18, on \
         since; sized: false";
    huge_pages = "", Holds::Choice(&["off", "on", "try"]),
        "large memory pages for the server's cache; try as PostgreSQL comes";
};

/// The settings of the profile, overridden by the study's own.
pub fn of(table: &Map<String, Value>, shape: &ServerShape) -> Result<ServerSettings, ServerError> {
    over_profile(super::KIND, table, KEYS, own, |profile, _| match profile {
        "stock" => ServerSettings::new(),
        _ => sized(shape),
    })
}

/// A key and its value in the form of PostgreSQL's command line.
fn own(key: &Key, value: &Value) -> (&'static str, String) {
    let text = match (key.holds, value) {
        (_, Value::Bool(true)) => "on".to_owned(),
        (_, Value::Bool(false)) => "off".to_owned(),
        (_, Value::String(word)) => word.clone(),
        (Holds::Span { .. }, span) => format!("{}s", seconds(span)),
        (Holds::Size { .. }, Value::Number(bytes)) => {
            let unit = if key.name == "max_wal_size" { mib } else { kib };
            unit(bytes.as_u64().unwrap_or_default())
        }
        (_, number) => number.to_string(),
    };
    (if key.name == "isolation" { "default_transaction_isolation" } else { key.name }, text)
}

/// The settings of the profile `sized` for a shape: the rules of thumb of PostgreSQL's own documentation, for a machine
/// that does nothing else and whose disk has no moving parts.
fn sized(ServerShape { vcpus, memory_bytes }: &ServerShape) -> ServerSettings {
    let memory = *memory_bytes;
    let connections = (memory / BYTES_PER_CONNECTION).clamp(100, 2000);
    // The memory beside the shared cache, divided as if every connection sorted and hashed three things at once.
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
        // Versions differ in it as they come, so it would be compared along with them.
        (DATA_CHECKSUMS, "off".to_owned()),
    ])
}

/// Memory needed for each allowed connection: about what an idle backend and its caches take.
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
        data_checksums=off
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
        data_checksums=off
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
