//! The keys of a study outside the catalogs: the top level, `[machine]`, `[load]`, and the keys of all engines.

use record::settings::{MOST_INSTANCES, MOST_MACHINES};
use settings::{Holds, Key, keys};

const MIB: u64 = 1 << 20;
/// Least memory of a machine, and of each of its databases.
pub const LEAST_MEMORY: u64 = 64 * MIB;
const TIB: u64 = 1 << 40;
const DAY_MS: u64 = 24 * 3_600_000;

/// Top-level keys that are not tables.
pub const STUDY: &[Key] = keys! {
    question, Holds::Text, "the question this study answers; the report's title";
    seed = "1", Holds::Integer { min: 0, max: i64::MAX },
        "seed of everything random: the order of trials and all inputs";
    blocks = "5", Holds::Integer { min: 1, max: 1000 },
        "how often each cell is run; every block holds each cell once, in shuffled order; beside precision it is the \
         least number, and 10 unless given";
    margin = "", Holds::Share { min: 0.001, max: 0.5 },
        "a difference in throughput that does not matter: contenders are called equivalent where it is shown that they \
         differ by less";
    precision = "", Holds::Share { min: 0.001, max: 0.5 },
        "blocks are added until the 95 % confidence interval of every throughput ratio is at most this far from the ratio on \
         either side, or a limit is met";
    max_blocks = "", Holds::Integer { min: 10, max: 1000 },
        "the greatest number of blocks, beside precision: 100 unless given";
    time_limit = "", Holds::Span { min_ms: 1000, max_ms: 100 * DAY_MS },
        "beside precision: no block is added that would not end before all trials together have taken this long";
    recipes = "", Holds::Text,
        "a folder, from the study's own, with recipes of images that machine.image and engine.version can ask for; they take \
         the place of bakeoff's recipes of the same name, and the record has their texts";
};

/// Keys of `[ablation]`, beside its changes.
pub const ABLATION: &[Key] = keys! {
    of, Holds::Text, "the contender that is changed";
    direction = "add-one", Holds::Choice(&["add-one", "leave-one-out"]),
        "each change alone, compared with the contender as it is; or all changes but one, compared with all";
};

/// Keys of `[audit.durability]`.
pub const DURABILITY: &[Key] = keys! {
    faults = "[\"server-killed\", \"guest-lost\", \"host-lost\"]", Holds::Words,
        "what is lost while transactions are acknowledged: the server's processes, a guest with its page cache, or the power of \
         the host";
    drive = "10s", Holds::Span { min_ms: 1000, max_ms: 3_600_000 }, "how long each contender is driven for it";
    holds = "10", Holds::Integer { min: 0, max: 1000 },
        "how often the disk stops answering flushes meanwhile; nothing may be acknowledged then, and the end of each is a moment \
         for a power cut";
    hold = "60ms", Holds::Span { min_ms: 1, max_ms: 5000 }, "how long it does so";
    cuts = "{}", Holds::Table(CUTS), "further moments for a power cut";
    grain = "4KiB", Holds::Size { min: 512, max: 4096 },
        "the pieces in which a write survives a power cut if no flush covers it; 512 bytes also tear pages of 4 KiB";
    flush_delay = "5ms", Holds::Span { min_ms: 0, max_ms: 1000 },
        "how long a flush takes while it is measured what a commit costs; 0ms leaves that out";
    seed = "", Holds::Integer { min: 0, max: i64::MAX }, "seed of the moments and of what survives; the study's unless given";
};

const CUTS: &[Key] = keys! {
    acknowledged = "10", Holds::Integer { min: 0, max: 10_000 }, "just after an acknowledgement";
    unflushed = "7", Holds::Integer { min: 0, max: 10_000 }, "just before a flush ends, where most is unflushed";
    growing = "3", Holds::Integer { min: 0, max: 10_000 }, "just after an early acknowledgement, while files still grow";
};

/// Keys of `[machine]`: the shape every contender gets.
pub const MACHINE: &[Key] = keys! {
    count = "1", Holds::Integer { min: 1, max: MACHINES_MAX },
        "machines side by side, all of this shape, each with its own copy of the data and its own load";
    vcpus, Holds::Integer { min: 1, max: 1024 }, "CPUs of each machine; native machines and containers are held to as many";
    memory, Holds::Size { min: LEAST_MEMORY, max: 16 * TIB }, "memory of each machine; native machines and containers are held to as much";
    kernel = "", Holds::Text,
        "the kernel that guests boot: host, that of this host; debian-12 or debian-13, Debian's for clouds, and debian-12-generic or \
         debian-13-generic, those with every driver; or the path of a vmlinuz with its modules beside it; unless given, host if this \
         host has its vmlinuz and modules, else debian-12";
    image = "", Holds::Text,
        "recipe of the image; unless given, the one with the version that the engine asks for, or else the one named after \
         the engine (for sqlite: micro)";
    disk = "{}", Holds::Table(DISK), "the disk that holds the database";
    oversubscribe = "false", Holds::Boolean, "whether all machines together may have more vCPUs than the host has CPUs";
    pinning = "auto", Holds::Choice(&["auto", "none", "cores", "threads", "node", "explicit"]),
        "which host CPUs vCPUs stay on: cores, a core for each; threads, core after core; auto, cores if there are \
         enough, else threads; node, each machine on one memory node; explicit, as machine.cpus says; none, wherever \
         the host's scheduler puts them; all but none also bind memory to the CPUs' nodes, auto where it fits; all but \
         auto and none keep QEMU's other threads apart where CPUs are left";
    cpus = "", Holds::Text,
        "with pinning = \"explicit\": a list of host CPUs for each machine, such as \"0-3;4-7\", with one CPU for \
         each vCPU";
    exception = "", Holds::Table(EXCEPTION),
        "the one of several machines that differs from the others, to see what becomes of them";
};

const MACHINES_MAX: i64 = MOST_MACHINES as i64;

const EXCEPTION: &[Key] = keys! {
    number, Holds::Integer { min: 1, max: MACHINES_MAX }, "which machine it is, counted from 1";
    cpu_quota = "", Holds::Share { min: 0.01, max: 1.0 },
        "the share of its vCPUs' time that all of it gets, hypervisor included; no limit unless given";
    load = "same", Holds::Choice(&["same", "idle", "stops", "starts", "burst"]),
        "the same load as the others', none (idle), one that stops or starts half-way through the measured window, \
         or one that is there in its middle third only (burst)";
    clients = "", Holds::Integer { min: 1, max: SESSIONS_MAX }, "its own number of clients, in place of load.clients";
    workload = "", Holds::Entry,
        "its own workload, written as [workload] is and in place of it: it holds other data, its clients do other \
         work, and it is in no total and no score";
};

const DISK: &[Key] = keys! {
    size = "20GiB", Holds::Size { min: 64 * MIB, max: 64 * TIB },
        "size of the data disk; a file takes only the room that is used";
    storage = "file", Holds::Choice(&["file", "device"]),
        "an ext4 image in a file of the host, or a block device of the host";
    device = "", Holds::Text, "path of the block device for storage = \"device\"; everything on it is overwritten";
    mount_options = "", Holds::Text,
        "more of ext4's own options for the database's file system, separated by commas, such as \"data=journal\"";
    scheduler = "", Holds::Choice(&["none", "mq-deadline", "kyber", "bfq"]),
        "the kernel's I/O scheduler for the disk inside the machine; as the kernel has it unless given";
    read_ahead = "", Holds::Size { min: 0, max: 1024 * MIB },
        "how much the kernel reads ahead on the disk inside the machine, in steps of 4 KiB; as the kernel has it unless given";
};

/// Keys of `[engine]` that every engine has, beside its kind and its own.
pub const ENGINE: &[Key] = keys! {
    instances = "1", Holds::Integer { min: 1, max: INSTANCES_MAX },
        "databases in each machine: each has a server with an equal part of the memory, a copy of the data, and an \
         equal part of the load";
    shared_server = "false", Holds::Boolean,
        "whether the databases of a machine are databases of one server, which then has all of the memory";
    version = "", Holds::Text,
        "version of the server, such as \"17\" or \"11.8\": it chooses the image, or one of the servers that are installed \
         where machines need no image; the newest in the machine unless given; not for sqlite";
};

const INSTANCES_MAX: i64 = MOST_INSTANCES as i64;

/// Keys of `[load]`: who works on the database of each machine, and for how long.
pub const LOAD: &[Key] = keys! {
    placement = "inside", Holds::Choice(&["inside", "outside"]),
        "whether the load runs in the machine beside the database, or on the host over the network";
    from = "", Holds::Words,
        "the hosts that the load comes from, each as ssh takes it, for placement = \"outside\": each drives an equal share; \
         this host unless given";
    ssh_options = "", Holds::Words, "further options for ssh to the hosts of from, such as -J and a jump host";
    address = "", Holds::Text,
        "the address of this host at which the hosts of from reach a server on it; unless given, the one that ssh comes from";
    clients = "", Holds::IntegerOr { min: 1, max: SESSIONS_MAX, words: &[PEAK_WORD] },
        "clients that work back to back, each with a session of its own; \"peak\" looks for the number that gets \
         most done; exactly one of clients, terminals and arrivals is given";
    terminals = "", Holds::Integer { min: 1, max: 1_000_000 },
        "clients that pause as the workload says (typing, thinking) and share sessions; let them warm up for longer \
         than a usual pause";
    arrivals = "", Holds::Rate { min_per_s: 0.01, max_per_s: 1_000_000.0 },
        "transactions that arrive at this rate, whether or not the database keeps up, and share sessions";
    ramp_rate = "", Holds::Rate { min_per_s: 0.01, max_per_s: 1_000_000.0 },
        "clients that begin to work in each second of the warm-up, which must be long enough for all; all at once \
         unless given";
    process = "", Holds::Choice(&["poisson", "uniform"]),
        "how arrivals are spread: independent of each other (poisson, unless given) or evenly";
    sessions = "", Holds::Integer { min: 1, max: SESSIONS_MAX },
        "sessions shared by terminals or arrivals: 64 unless given, but not more than terminals; work that finds \
         none free waits, and that counts as response";
    transactions = "", Holds::Integer { min: 1, max: 1_000_000_000 },
        "a load by count: it ends once the clients of a machine have done this many together; warmup is then \"0s\", and \
         measure is the longest that it may take";
    warmup, Holds::Span { min_ms: 0, max_ms: DAY_MS }, "how long the load runs before it is measured";
    measure, Holds::Span { min_ms: 1000, max_ms: DAY_MS }, "how long the load is measured";
    shards = "0", Holds::Integer { min: 0, max: 1024 },
        "threads of the load engine; 0 means one for each CPU it may use";
    retries = "10", Holds::Integer { min: 0, max: 1000 },
        "how often a transaction that the database gave up is tried again with the same inputs";
    telemetry = "true", Holds::Boolean,
        "whether what host and machine count is sampled once a second while the load runs";
    max_other_cpu = "", Holds::Share { min: 0.001, max: 1.0 },
        "the largest share of the host's CPU time that processes other than bakeoff's may use while load is measured: a trial \
         beside which they use more is void and run again; no limit unless given";
    max_repeats = "", Holds::Integer { min: 1, max: 20 },
        "how often one trial may be run again because of max_other_cpu: 3 unless given; if it is still disturbed then, it \
         stays invalid";
    peak = "", Holds::Table(PEAK),
        "how the peak is looked for, for clients = \"peak\": in steps, each with its own warm-up and measured \
         window; the best is then measured afresh";
};

/// Keys of `[load]` that say who works and for how long.
pub const OFFERED: [&str; 10] = [
    "clients",
    "terminals",
    "arrivals",
    "ramp_rate",
    "process",
    "sessions",
    "transactions",
    "warmup",
    "measure",
    "peak",
];

/// The keys of `[load]` beside a workload.
pub fn load_keys(has_own_phases: bool) -> Vec<Key> {
    LOAD.iter().filter(|key| !has_own_phases || !OFFERED.contains(&key.name)).copied().collect()
}

/// Each session costs a server memory; a larger number is a mistake.
const SESSIONS_MAX: i64 = 10_000;

/// The value of `clients` that asks for the climb to the peak.
pub const PEAK_WORD: &str = "peak";

/// The keys that make work due; a study gives exactly one of them.
pub const PACINGS: [&str; 3] = ["clients", "terminals", "arrivals"];

/// How often a disturbed trial is repeated, unless the study says how often.
pub const MAX_REPEATS_DEFAULT: u64 = 3;

/// Sessions shared by terminals or arrivals unless the study says how many.
pub const SESSIONS_DEFAULT: u64 = 64;

const PEAK: &[Key] = keys! {
    max_clients = "128", Holds::Integer { min: 2, max: SESSIONS_MAX }, "steps go no further than this many clients";
    error_limit = "0.01", Holds::Number { min: 0.0, max: 1.0 },
        "steps in which a larger share of transactions fails are no candidates, and end the climb";
    p99_limit = "", Holds::Span { min_ms: 1, max_ms: DAY_MS },
        "steps with a longer response at the 99th percentile are no candidates, and end the climb";
};
