//! The keys of a study that belong to no catalog entry: the top level, `[machine]` and `[load]`.

use record::plan::MOST_MACHINES;
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
        meaning: "how often each cell is run; every block holds each cell once, in shuffled order; beside precision it is \
                  the least number, and 10 unless given",
    },
    Key {
        name: "precision",
        holds: Holds::Share { min: 0.001, max: 0.5 },
        default: Some(""),
        meaning: "blocks are added until the 95 % interval of every throughput ratio is at most this far from the ratio on \
                  either side, or a limit is met",
    },
    Key {
        name: "max_blocks",
        holds: Holds::Integer { min: 10, max: 1000 },
        default: Some(""),
        meaning: "the greatest number of blocks, beside precision: 100 unless given",
    },
    Key {
        name: "time_limit",
        holds: Holds::Span { min_ms: 1000, max_ms: 100 * DAY_MS },
        default: Some(""),
        meaning: "beside precision: no block is added that would not end before all trials together have taken this long",
    },
];

/// Keys of `[machine]`: the shape every contender gets.
pub const MACHINE: &[Key] = &[
    Key {
        name: "count",
        holds: Holds::Integer { min: 1, max: MACHINES_MAX },
        default: Some("1"),
        meaning: "machines side by side, all of this shape, each with its own copy of the data and its own load",
    },
    Key {
        name: "vcpus",
        holds: Holds::Integer { min: 1, max: 1024 },
        default: None,
        meaning: "CPUs of each machine; native machines are held to as many",
    },
    Key {
        name: "memory",
        holds: Holds::Size { min: 64 * MIB, max: 16 * TIB },
        default: None,
        meaning: "memory of each machine; native machines are held to as much",
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
        meaning: "whether all machines together may have more vCPUs than the host has CPUs",
    },
    Key {
        name: "pinning",
        holds: Holds::Choice(&["in-order", "none", "cores", "threads", "node", "explicit"]),
        default: Some("in-order"),
        meaning: "which host CPUs vCPUs stay on: in-order, by their numbers; cores, a core for each; threads, core after \
                  core; node, each machine on one memory node; explicit, as machine.cpus says; none, wherever the host's \
                  scheduler puts them; all but in-order and none also bind memory to the CPUs' nodes and keep QEMU's \
                  other threads apart where CPUs are left",
    },
    Key {
        name: "cpus",
        holds: Holds::Text,
        default: Some(""),
        meaning: "with pinning = \"explicit\": a list of host CPUs for each machine, such as \"0-3;4-7\", with one CPU for \
                  each vCPU",
    },
    Key {
        name: "odd",
        holds: Holds::Table(ODD),
        default: Some(""),
        meaning: "the one of several machines that differs from the others, to see what becomes of them",
    },
];

const MACHINES_MAX: i64 = MOST_MACHINES as i64;

const ODD: &[Key] = &[
    Key {
        name: "number",
        holds: Holds::Integer { min: 1, max: MACHINES_MAX },
        default: None,
        meaning: "which machine it is, counted from 1",
    },
    Key {
        name: "cpu_quota",
        holds: Holds::Share { min: 0.01, max: 1.0 },
        default: Some(""),
        meaning: "the share of its vCPUs' time that all of it gets, hypervisor included; no limit unless given",
    },
    Key {
        name: "load",
        holds: Holds::Choice(&["same", "idle", "stops", "starts", "burst"]),
        default: Some("same"),
        meaning: "the same load as the others', none (idle), one that stops or starts half-way through the measured window, \
                  or one that is there in its middle third only (burst)",
    },
    Key {
        name: "clients",
        holds: Holds::Integer { min: 1, max: SESSIONS_MAX },
        default: Some(""),
        meaning: "its own number of clients, in place of load.clients",
    },
    Key {
        name: "workload",
        holds: Holds::Entry,
        default: Some(""),
        meaning: "its own workload, written as [workload] is and in place of it: it holds other data, its clients do other work, \
                  and it is in no total and no score",
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

/// Keys of `[load]`: who works on the database of each machine, and for how long.
pub const LOAD: &[Key] = &[
    Key {
        name: "placement",
        holds: Holds::Choice(&["inside", "outside"]),
        default: Some("inside"),
        meaning: "whether the load runs in the machine beside the database, or on the host over the network",
    },
    Key {
        name: "clients",
        holds: Holds::IntegerOr { min: 1, max: SESSIONS_MAX, words: &[PEAK_WORD] },
        default: Some(""),
        meaning: "clients that work back to back, each with a session of its own; \"peak\" looks for the number that gets \
                  most done; exactly one of clients, terminals and arrivals is given",
    },
    Key {
        name: "terminals",
        holds: Holds::Integer { min: 1, max: 1_000_000 },
        default: Some(""),
        meaning: "clients that pause as the workload says (typing, thinking) and share sessions; let them warm up for \
                  longer than a usual pause",
    },
    Key {
        name: "arrivals",
        holds: Holds::Rate { min_per_s: 0.01, max_per_s: 1_000_000.0 },
        default: Some(""),
        meaning: "transactions that arrive at this rate, whether or not the database keeps up, and share sessions",
    },
    Key {
        name: "process",
        holds: Holds::Choice(&["poisson", "uniform"]),
        default: Some(""),
        meaning: "how arrivals are spread: independent of each other (poisson, unless given) or evenly",
    },
    Key {
        name: "sessions",
        holds: Holds::Integer { min: 1, max: SESSIONS_MAX },
        default: Some(""),
        meaning: "sessions shared by terminals or arrivals: 64 unless given, but not more than terminals; work that \
                  finds none free waits, and that counts as response",
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
    Key {
        name: "telemetry",
        holds: Holds::Boolean,
        default: Some("true"),
        meaning: "whether what host and machine count is sampled once a second while the load runs",
    },
    Key {
        name: "peak",
        holds: Holds::Table(PEAK),
        default: Some(""),
        meaning: "how the peak is looked for, for clients = \"peak\": in steps, each with its own warm-up and measured \
                  window; the best is then measured afresh",
    },
];

/// Sessions cost a server memory each; more than this is a slip.
const SESSIONS_MAX: i64 = 10_000;

/// The value of `clients` that asks for the ladder.
pub const PEAK_WORD: &str = "peak";

/// What makes work due; a study gives exactly one of them.
pub const PACINGS: [&str; 3] = ["clients", "terminals", "arrivals"];

/// Sessions shared by terminals or arrivals unless the study says how many.
pub const SESSIONS_DEFAULT: u64 = 64;

const PEAK: &[Key] = &[
    Key {
        name: "max_clients",
        holds: Holds::Integer { min: 2, max: SESSIONS_MAX },
        default: Some("128"),
        meaning: "steps go no further than this many clients",
    },
    Key {
        name: "error_limit",
        holds: Holds::Number { min: 0.0, max: 1.0 },
        default: Some("0.01"),
        meaning: "steps in which a larger share of transactions fails are no candidates, and end the climb",
    },
    Key {
        name: "p99_limit",
        holds: Holds::Span { min_ms: 1, max_ms: DAY_MS },
        default: Some(""),
        meaning: "steps with a longer response at the 99th percentile are no candidates, and end the climb",
    },
];
