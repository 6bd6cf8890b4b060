//! Tests of checking: every kind of problem with its text, defaults, units, and that checking twice changes nothing.

use super::*;
use proptest::prelude::*;
use serde_json::json;

const DISK: &[Key] = &[
    Key { name: "cache", holds: Holds::Choice(&["none", "writeback"]), default: Some("none"), meaning: "" },
    Key { name: "size", holds: Holds::Size { min: 64 << 20, max: 16 << 40 }, default: Some("1GiB"), meaning: "" },
];

const KEYS: &[Key] = &[
    Key { name: "rows", holds: Holds::Integer { min: 1, max: 100 }, default: None, meaning: "" },
    Key { name: "pinned", holds: Holds::Boolean, default: Some("true"), meaning: "" },
    Key { name: "share", holds: Holds::Number { min: 0.0, max: 1.0 }, default: Some("0.5"), meaning: "" },
    Key { name: "pause", holds: Holds::Span { min_ms: 0, max_ms: 3_600_000 }, default: Some("2s"), meaning: "" },
    Key { name: "path", holds: Holds::Text, default: Some(""), meaning: "" },
    Key {
        name: "clients",
        holds: Holds::IntegerOr { min: 1, max: 9, words: &["peak"] },
        default: Some("4"),
        meaning: "",
    },
    Key { name: "disk", holds: Holds::Table(DISK), default: Some("{}"), meaning: "" },
];

fn table(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(table) => table,
        other => panic!("not a table: {other}"),
    }
}

fn problems(value: Value) -> String {
    let problems = check_written(&table(value), KEYS).unwrap_err();
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn defaults_are_filled_in_and_optional_keys_stay_absent() {
    let checked = check(&table(json!({ "rows": 3 })), KEYS).unwrap();
    let expected = json!({
        "rows": 3, "pinned": true, "share": 0.5, "pause": 2000, "clients": 4,
        "disk": { "cache": "none", "size": 1_u64 << 30 },
    });
    assert_eq!(Value::Object(checked), expected);
}

#[test]
fn units_are_normalised_and_whole_numbers_become_numbers() {
    let written = json!({ "rows": 3, "share": 1, "pause": "1.5s", "clients": "peak", "disk": { "size": "512 MiB" } });
    let checked = check_written(&table(written), KEYS).unwrap();
    assert_eq!(checked["share"], json!(1.0));
    assert_eq!(checked["pause"], json!(1500));
    assert_eq!(checked["clients"], json!("peak"));
    assert_eq!(checked["disk"]["size"], json!(512 << 20));
}

#[test]
fn a_count_is_written_as_one_or_as_the_size_of_all() {
    const KEYS: &[Key] = &[Key {
        name: "scale",
        holds: Holds::Count { min: 100, max: 1 << 20, each_bytes: 8192 },
        default: Some("80MiB"),
        meaning: "",
    }];
    let of = |value: Value| {
        let table = Map::from_iter([("scale".to_owned(), value)]);
        check_written(&table, KEYS).map(|checked| checked["scale"].clone())
    };
    for (written, count) in [(json!("1GiB"), 131_072), (json!(250), 250), (json!("1 MB"), 122), (json!("250"), 250)] {
        assert_eq!(of(written), Ok(json!(count)));
    }
    assert_eq!(check(&Map::new(), KEYS).unwrap()["scale"], json!(10_240));
    for refused in [json!(99), json!("8M"), json!("512KiB"), json!("1TiB"), json!(-1)] {
        let problems = of(refused).unwrap_err();
        let expected =
            "a whole number from 100 to 1048576, or the size that so many take at 8 KiB each, such as \"80MiB\"";
        assert_eq!(problems[0].expected, expected);
    }
}

#[test]
fn every_problem_is_told_at_once() {
    let written = json!({
        "row": 1, "pinned": "yes", "share": 1.5, "pause": 30, "path": 4, "clients": "paek",
        "disk": { "cache": "none", "size": "1MiB", "adapter": "nvme" },
    });
    insta::assert_snapshot!(problems(written), @r#"
    row: unknown key; expected one of rows, pinned, share, pause, path, clients, disk; did you mean "rows"?
    pinned: found "yes"; expected true or false
    share: found 1.5; expected a number from 0 to 1
    pause: found 30; expected a span of time such as "30s", from 0 s to 1 h
    path: found 4; expected text in quotes
    clients: found "paek"; expected a whole number from 1 to 9, or "peak"; did you mean "peak"?
    disk.adapter: unknown key; expected one of cache, size
    disk.size: found "1MiB"; expected a size such as "2GiB", from 64 MiB to 16 TiB
    "#);
}

#[test]
fn a_table_is_not_a_scalar_and_a_scalar_is_no_table() {
    insta::assert_snapshot!(problems(json!({ "rows": {}, "disk": "big", "path": [], "pause": "30 parsecs" })), @r#"
    rows: found a table; expected a whole number from 1 to 100
    pause: found "30 parsecs"; expected a span of time such as "30s", from 0 s to 1 h
    path: found a list; expected text in quotes
    disk: found "big"; expected a table with the keys cache, size
    "#);
}

#[test]
fn the_table_of_a_catalogs_entry_is_left_as_it_is() {
    let keys = [Key { name: "entry", holds: Holds::Entry, default: Some(""), meaning: "" }];
    let written = table(json!({ "entry": { "kind": "any", "span": "2s" } }));
    assert_eq!(check_written(&written, &keys), Ok(written));
    assert_eq!(check(&Map::new(), &keys), Ok(Map::new()));
    let problems = check_written(&table(json!({ "entry": "any" })), &keys).unwrap_err();
    assert_eq!(problems[0].to_string(), "entry: found \"any\"; expected a table with a kind");
}

#[test]
fn long_text_is_cut_in_messages() {
    let message = problems(json!({ "rows": "x".repeat(1000) }));
    assert!(message.len() < 200, "{message}");
}

#[test]
fn a_normalised_span_is_accepted_only_from_a_normalised_table() {
    let given = table(json!({ "rows": 1, "pause": 30 }));
    assert_eq!(check(&given, KEYS).unwrap()["pause"], json!(30));
    assert!(check_written(&given, KEYS).is_err());
}

#[test]
fn reading_gives_the_entrys_own_type() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct DiskTable {
        cache: String,
        size: Bytes,
    }
    let disk: DiskTable = read(&table(json!({ "size": "2GiB" })), DISK).unwrap();
    assert_eq!(disk, DiskTable { cache: "none".to_owned(), size: Bytes(2 << 30) });
}

#[test]
fn the_nearest_word_is_near() {
    assert_eq!(nearest("warehouse", ["items", "warehouses"]), Some("warehouses"));
    assert_eq!(nearest("vpcus", ["memory", "vcpus"]), Some("vcpus"));
    assert_eq!(nearest("colour", ["memory", "vcpus"]), None);
}

/// Any value; some are made to fit a key.
fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..120_i64).prop_map(Value::from),
        (0.0..1.2_f64).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::sample::select(vec!["none", "peak", "2GiB", "512MiB", "30s", "2m"]).prop_map(Value::from),
    ];
    let name = prop::sample::select(KEYS.iter().chain(DISK).map(|key| key.name).collect::<Vec<_>>());
    let nested = prop::collection::vec((name, scalar.clone()), 0..3);
    prop_oneof![
        4 => scalar,
        1 => nested.prop_map(|entries| entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
    ]
}

/// Random tables, a good part of which is valid.
fn any_table() -> impl Strategy<Value = Map<String, Value>> {
    let name = prop::sample::select(KEYS.iter().map(|key| key.name).collect::<Vec<_>>());
    prop::collection::vec((name, any_value()), 0..4).prop_map(|entries| {
        let rows = ("rows".to_owned(), Value::from(1));
        std::iter::once(rows).chain(entries.into_iter().map(|(name, value)| (name.to_owned(), value))).collect()
    })
}

proptest! {
    #[test]
    fn checking_twice_changes_nothing(given in any_table()) {
        if let Ok(checked) = check(&given, KEYS) {
            prop_assert_eq!(check(&checked, KEYS), Ok(checked));
        }
    }

    #[test]
    fn what_is_accepted_as_written_is_accepted_normalised(given in any_table()) {
        if let Ok(checked) = check_written(&given, KEYS) {
            prop_assert_eq!(check(&given, KEYS), Ok(checked));
        }
    }

    #[test]
    fn each_problem_names_a_path_and_an_expectation(given in any_table()) {
        for problem in check_written(&given, KEYS).err().unwrap_or_default() {
            prop_assert!(!problem.path.is_empty());
            prop_assert!(!problem.expected.is_empty());
        }
    }
}
