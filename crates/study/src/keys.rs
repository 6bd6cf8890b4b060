//! The keys of a study that belong to no catalog entry: the top level, `[machine]` and `[load]`.

use settings::{Holds, Key};

/// Tables whose keys make up a cell, in the order in which they are told. All may be overridden.
pub const PARTS: [&str; 5] = ["machine", "platform", "engine", "workload", "load"];

const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;
const DAY_MS: u64 = 24 * 3_600_000;

/// Top-level keys that are not tables.
pub const STUDY: &[Key] = &[
    Key {
        name: "question",
        holds: Holds::Text,
        default: None,
        meaning: "the question this study answers; the report's title",
    },
    Key {
        name: "seed",
        holds: Holds::Integer { min: 0, max: i64::MAX },
        default: Some("1"),
        meaning: "seed of everything random: the order of trials and all inputs",
    },
    Key {
        name: "blocks",
        holds: Holds::Integer { min: 1, max: 1000 },
        default: Some("5"),
        meaning: "how often each cell is run; every block holds each cell once, in shuffled order",
    },
];

/// Keys of `[machine]`: the shape every contender gets.
pub const MACHINE: &[Key] = &[
    Key {
        name: "count",
        holds: Holds::Integer { min: 1, max: 1000 },
        default: Some("1"),
        meaning: "machines side by side; only 1 for now",
    },
    Key {
        name: "vcpus",
        holds: Holds::Integer { min: 1, max: 1024 },
        default: None,
        meaning: "CPUs of the machine; native machines are held to as many",
    },
    Key {
        name: "memory",
        holds: Holds::Size { min: 64 * MIB, max: 16 * TIB },
        default: None,
        meaning: "memory of the machine; native machines are held to as much",
    },
    Key {
        name: "kernel",
        holds: Holds::Choice(&["cloud", "generic"]),
        default: Some("cloud"),
        meaning: "which of Debian's kernels a guest boots",
    },
    Key {
        name: "image",
        holds: Holds::Text,
        default: Some(""),
        meaning: "recipe of the image; the one named after the engine unless given (for sqlite: micro)",
    },
    Key { name: "disk", holds: Holds::Table(DISK), default: Some("{}"), meaning: "the disk that holds the database" },
    Key {
        name: "oversubscribe",
        holds: Holds::Boolean,
        default: Some("false"),
        meaning: "whether the machine may have more vCPUs than the host has CPUs",
    },
];

const DISK: &[Key] = &[
    Key {
        name: "size",
        holds: Holds::Size { min: 64 * MIB, max: 64 * TIB },
        default: Some("20GiB"),
        meaning: "size of the data disk; a file takes only the room that is used",
    },
    Key {
        name: "storage",
        holds: Holds::Choice(&["file", "device"]),
        default: Some("file"),
        meaning: "an ext4 image in a file of the host, or a block device of the host",
    },
    Key {
        name: "device",
        holds: Holds::Text,
        default: Some(""),
        meaning: "path of the block device for storage = \"device\"; everything on it is overwritten",
    },
];

/// Keys of `[load]`: who works on the database, and for how long.
pub const LOAD: &[Key] = &[
    Key {
        name: "placement",
        holds: Holds::Choice(&["inside", "outside"]),
        default: Some("inside"),
        meaning: "whether the load runs in the machine beside the database, or on the host over the network",
    },
    Key {
        name: "clients",
        holds: Holds::Integer { min: 1, max: 10_000 },
        default: None,
        meaning: "clients that work back to back, each with a session of its own",
    },
    Key {
        name: "warmup",
        holds: Holds::Span { min_ms: 0, max_ms: DAY_MS },
        default: None,
        meaning: "how long the load runs before it is measured",
    },
    Key {
        name: "measure",
        holds: Holds::Span { min_ms: 1000, max_ms: DAY_MS },
        default: None,
        meaning: "how long the load is measured",
    },
    Key {
        name: "shards",
        holds: Holds::Integer { min: 0, max: 1024 },
        default: Some("0"),
        meaning: "threads of the load engine; 0 means one for each CPU it may use",
    },
    Key {
        name: "retries",
        holds: Holds::Integer { min: 0, max: 1000 },
        default: Some("10"),
        meaning: "how often a transaction that the database gave up is tried again with the same inputs",
    },
];
