//! MariaDB's settings: keys, profiles, and how a profile derives them from a machine's shape.
//!
//! All are given on the server's command line, and no file is read. So the data folder carries no settings, and the
//! same loaded data serves trials with different settings.

use crate::own_server::{ServerSettings, over_profile, seconds};
use crate::server::{ServerError, ServerShape};
use serde_json::{Map, Value};
use settings::{Holds, Key, keys};

const ONE_TIB: u64 = 1 << 40;

pub const KEYS: &[Key] = keys! {
    profile = "sized", Holds::Choice(&["sized", "stock"]),
        "sized: memory, log and connections from the machine's shape, durable; stock: as MariaDB comes";
    isolation = "read committed", Holds::Choice(&["read committed", "repeatable read", "serializable"]),
        "isolation of every transaction (transaction_isolation)";
    innodb_snapshot_isolation = "", Holds::Boolean,
        "whether repeatable read refuses to change a row that another has changed since; off as MariaDB 10 comes, \
         on as 11.8 does; sized: false";
    innodb_buffer_pool_size = "", Holds::Size { min: 5 << 20, max: ONE_TIB },
        "the server's own cache; sized: the memory less a quarter, at least 512 MiB, for everything else";
    innodb_log_file_size = "", Holds::Size { min: 4 << 20, max: 512 << 30 },
        "the redo log; sized: half of the cache, 96 MiB to 16 GiB";
    max_connections = "", Holds::Integer { min: 10, max: 100_000 },
        "sessions that may be open at once; sized: one for each 8 MiB of memory, 100 to 2000";
    innodb_flush_log_at_trx_commit = "", Holds::Integer { min: 0, max: 2 },
        "what a commit waits for: 1 the disk, 2 the system, 0 nothing; sized: 1";
    innodb_flush_method = "", Holds::Choice(&["fsync", "O_DSYNC", "O_DIRECT", "O_DIRECT_NO_FSYNC"]),
        "how data files are written; sized: O_DIRECT, past the system's cache";
    innodb_doublewrite = "", Holds::Boolean, "every page is written twice, against torn pages; sized: true";
    innodb_io_capacity = "", Holds::Integer { min: 100, max: 1_000_000 },
        "writes a second that cleaning the cache may take; sized: 2000";
    innodb_lock_wait_timeout = "", Holds::Span { min_ms: 1_000, max_ms: 3_600_000 },
        "how long a transaction waits for a row before it is given up; 50 seconds as MariaDB comes";
    innodb_adaptive_hash_index = "", Holds::Boolean, "hash tables over much used pages; off as MariaDB comes";
    performance_schema = "", Holds::Boolean,
        "whether the server keeps what its sessions wait for, which costs throughput; off as MariaDB comes";
};

/// The settings of the profile, overridden by the study's own.
pub fn of(table: &Map<String, Value>, shape: &ServerShape) -> Result<ServerSettings, ServerError> {
    over_profile(super::KIND, table, KEYS, own, |profile, table| {
        let mut settings = match profile {
            "stock" => ServerSettings::new(),
            _ => sized(shape, table.get("innodb_buffer_pool_size").and_then(Value::as_u64)),
        };
        if table.get("performance_schema") == Some(&Value::Bool(true)) {
            settings.extend(WAITS_TOLD.map(|(name, value)| (name, value.to_owned())));
        }
        settings
    })
}

/// A key and its value in the form of MariaDB's command line.
fn own(key: &Key, value: &Value) -> (&'static str, String) {
    let text = match (key.holds, value) {
        (_, Value::Bool(true)) => "ON".to_owned(),
        (_, Value::Bool(false)) => "OFF".to_owned(),
        (_, Value::String(word)) => word.clone(),
        (Holds::Span { .. }, span) => seconds(span).to_string(),
        (_, number) => number.to_string(),
    };
    match key.name {
        "isolation" => ("transaction_isolation", text.to_uppercase().replace(' ', "-")),
        name => (name, text),
    }
}

/// The settings of the profile `sized` for a shape: rules of thumb for a machine that does nothing else and whose disk
/// has no moving parts.
fn sized(shape: &ServerShape, cache: Option<u64>) -> ServerSettings {
    let memory = shape.memory_bytes;
    let rest = (memory / 4).max(LEAST_REST);
    let cache = cache.unwrap_or_else(|| whole_mib(memory.saturating_sub(rest).max(memory / 4)));
    let log = whole_mib((cache / 2).clamp(96 << 20, 16 << 30));
    ServerSettings::from([
        ("innodb_buffer_pool_size", cache.to_string()),
        ("innodb_log_file_size", log.to_string()),
        ("max_connections", (memory / BYTES_PER_CONNECTION).clamp(100, 2000).to_string()),
        ("innodb_flush_log_at_trx_commit", "1".to_owned()),
        ("innodb_flush_method", "O_DIRECT".to_owned()),
        ("innodb_doublewrite", "ON".to_owned()),
        ("innodb_io_capacity", "2000".to_owned()),
        ("innodb_io_capacity_max", "4000".to_owned()),
        ("innodb_flush_neighbors", "0".to_owned()),
        // Versions differ in it as they come, so it would be compared along with them.
        ("innodb_snapshot_isolation", "OFF".to_owned()),
        // Reloading the last cache during a measurement would be work that no client asked for.
        ("innodb_buffer_pool_dump_at_shutdown", "OFF".to_owned()),
        ("innodb_buffer_pool_load_at_startup", "OFF".to_owned()),
    ])
}

/// Without these the performance schema does not know what a session waits for.
const WAITS_TOLD: [(&str, &str); 2] =
    [("performance_schema_consumer_events_waits_current", "ON"), ("performance_schema_instrument", "wait/%=ON")];

/// Memory for the system, the connections and everything but the cache, even in a small machine.
const LEAST_REST: u64 = 512 << 20;

/// Memory needed for each allowed connection: a thread and the buffers of a few statements.
const BYTES_PER_CONNECTION: u64 = 8 << 20;

fn whole_mib(bytes: u64) -> u64 {
    bytes >> 20 << 20
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
        innodb_buffer_pool_dump_at_shutdown=OFF
        innodb_buffer_pool_load_at_startup=OFF
        innodb_buffer_pool_size=1610612736
        innodb_doublewrite=ON
        innodb_flush_log_at_trx_commit=1
        innodb_flush_method=O_DIRECT
        innodb_flush_neighbors=0
        innodb_io_capacity=2000
        innodb_io_capacity_max=4000
        innodb_log_file_size=805306368
        innodb_snapshot_isolation=OFF
        max_connections=256
        transaction_isolation=READ-COMMITTED
        ");
    }

    #[test]
    fn the_cache_leaves_room_for_everything_else() {
        let cache = |memory| settings("{}", 2, memory).into_iter().find(|line| line.contains("pool_size")).unwrap();
        assert_eq!(cache(512 << 20), format!("innodb_buffer_pool_size={}", 128 << 20));
        assert_eq!(cache(64 << 30), format!("innodb_buffer_pool_size={}", 48_u64 << 30));
    }

    #[test]
    fn stock_sets_only_what_the_study_names() {
        assert_eq!(settings(r#"{ "profile": "stock" }"#, 2, 2 << 30), ["transaction_isolation=READ-COMMITTED"]);
    }

    #[test]
    fn a_key_goes_before_the_profile() {
        let words = r#"{
            "profile": "stock", "isolation": "repeatable read", "innodb_snapshot_isolation": true,
            "innodb_buffer_pool_size": "1GiB", "innodb_log_file_size": "2GiB", "max_connections": 17,
            "innodb_flush_log_at_trx_commit": 2, "innodb_flush_method": "fsync", "innodb_doublewrite": false,
            "innodb_io_capacity": 300, "innodb_lock_wait_timeout": "5s", "innodb_adaptive_hash_index": true
        }"#;
        insta::assert_snapshot!(settings(words, 2, 2 << 30).join("\n"), @"
        innodb_adaptive_hash_index=ON
        innodb_buffer_pool_size=1073741824
        innodb_doublewrite=OFF
        innodb_flush_log_at_trx_commit=2
        innodb_flush_method=fsync
        innodb_io_capacity=300
        innodb_lock_wait_timeout=5
        innodb_log_file_size=2147483648
        innodb_snapshot_isolation=ON
        max_connections=17
        transaction_isolation=REPEATABLE-READ
        ");
    }
}
