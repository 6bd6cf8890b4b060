//! What the cache key of loaded data depends on, and which errors end a run.

use super::origin::LOADING_MEMORY_BYTES;
use super::*;
use crate::limits::Limits;
use agent::protocol::Failure;
use serde_json::json;

fn cell(memory: u64) -> TypedCell {
    let cell = json!({
        "id": 0, "contender": "native", "baseline": true, "sweep": {},
        "settings": {
            "machine": { "vcpus": 1, "memory": memory, "image": "postgres", "disk": {} },
            "platform": { "kind": "native" }, "engine": { "kind": "postgres" },
            "workload": { "kind": "order-entry", "warehouses": 1 },
            "load": { "clients": 1, "warmup": 1_000, "measure": 1_000 },
        },
    });
    TypedCell::read(serde_json::from_value(cell).unwrap(), platforms::catalog::settings).unwrap()
}

/// How much log PostgreSQL and MariaDB leave depends on the memory that they are configured for.
#[test]
fn cells_share_data_that_depend_on_nothing_else() {
    let site = |cpus: Vec<usize>| Site {
        cache: "/cache".into(),
        scratch: "/cache/scratch".into(),
        agent: PathBuf::new(),
        cpus,
        memory_bytes: 64 << 30,
        made_by: String::new(),
        read_host: crate::site::read_host,
        limits: Limits::default(),
        credentials: platforms::credentials::Credentials::default(),
        find_server: crate::site::no_server,
        lines: None,
    };
    let key_of = |memory: u64, site: &Site| {
        let cell = cell(memory);
        folder_of(&made_from(&cell, &cell.workload.chosen, Some("tree"), site), site)
    };
    let two = site(vec![0, 1]);
    assert_eq!(key_of(512 << 20, &two), key_of(32 << 30, &two));
    let from = made_from(&cell(32 << 30), &cell(32 << 30).workload.chosen, Some("tree"), &two);
    assert_eq!(from["loaded_with"], json!({ "vcpus": 2, "memory_bytes": LOADING_MEMORY_BYTES }));
    // One connection per CPU loads, and their number shapes the order of rows.
    assert_ne!(key_of(512 << 20, &two), key_of(512 << 20, &site(vec![0, 1, 2])));
    let key_with = |key: &str, value: serde_json::Value| {
        let mut cell = cell(512 << 20);
        cell.workload.chosen.settings.insert(key.to_owned(), value);
        folder_of(&made_from(&cell, &cell.workload.chosen, Some("tree"), &two), &two)
    };
    assert_eq!(key_with("statements", "pipelined".into()), key_with("statements", "plain".into()), "it only drives");
    assert_ne!(key_with("data_seed", 1.into()), key_with("data_seed", 2.into()));
}

#[test]
fn a_database_without_room_ends_the_run_and_one_that_fails_by_itself_does_not() {
    let ends_at = |home, why: &str, log: &str| {
        let failure = Failure { why: why.to_owned(), instance: None, log: log.to_owned() };
        PreparationError::from(AskError::Refused(failure)).if_full(home, Path::new("/cache/data")).ends_the_run(home)
    };
    let ends = |why: &str, log: &str| ends_at(DataHome::Folder, why, log);
    assert!(ends("loading table stock: SQLITE 13: database or disk is full", ""));
    assert!(ends("53100: could not extend file \"base/5/16410\": No space left on device", ""));
    assert!(ends("the connection was lost", "PANIC:  could not write to file: No space left on device"));
    assert!(!ends("loading table stock: SQLITE 1: no such table", ""));
    let of_machine = |error| PreparationError::OfMachine { number: 2, error: Box::new(error) };
    let full = PreparationError::Full { why: "no room".to_owned(), folder: "/cache/data".into() };
    assert!(of_machine(full).ends_the_run(DataHome::Folder), "whichever machine the data are for");
    let wrong = of_machine(PreparationError::WrongData("1 of 9 checks fails".to_owned()));
    assert!(
        !wrong.ends_the_run(DataHome::Folder) && wrong.to_string().starts_with("machine 2: the loaded data"),
        "{wrong}"
    );
    let of_limit = "opening the log: Too many open files (os error 24)";
    assert!(ends(of_limit, ""));
    for why in ["could not extend file: No space left on device", of_limit] {
        assert!(!ends_at(DataHome::Elsewhere, why, ""), "of another host: {why}");
    }
}
