//! The constant of the workload, with the text that must go with each of its numbers.

use super::settings::KEYS;
use crate::entry::{ThroughputMetric, WorkloadEntry, WorkloadScripts};
use crate::sql;
use engines::statement::ByDialect;

pub const KIND: &str = "decision-support-h";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "decision support: 22 large queries about orders, alone and in several streams; derived from TPC-H, not comparable with it",
    keys: KEYS,
    driving_keys: &["streams", "query_limit"],
    own_phases: true,
    metric: ThroughputMetric { name: "questions/h", unit: "questions/h", per_ms: 3_600_000 },
    notice: NOTICE,
    deviations: DEVIATIONS,
    scripts: WorkloadScripts {
        schema: sql::files!("sql/schema"),
        finish: sql::files!("sql/finish"),
        put_back: ByDialect { mysql: include_str!("sql/put_back.mysql.sql"), ..WorkloadScripts::NONE.put_back },
        ..WorkloadScripts::NONE
    },
    // Measured by loading scales 0.01 and 0.1 into PostgreSQL 15, MariaDB 10.11 and SQLite: for each hundredth of the scale.
    stored: ByDialect { sqlite: &[0, 15_500_000], postgres: &[900_000, 17_560_000], mysql: &[20_460_000, 20_540_000] },
};

const NOTICE: &str = "The decision-support-h workload is derived from TPC-H. It does not follow all its rules, so its figures are not \
    comparable with published TPC-H results.";

const DEVIATIONS: &[&str] = &[
    "Queries are written anew, each for the same question, and in one text for all engines. Parameters come from a generator of \
     our own, which draws each over its whole domain.",
    "A power phase and a throughput phase follow each other once. The original runs both twice and counts the lower figure.",
    "The power phase has one session for the queries and both refresh functions.",
    "The refresh stream begins with the query streams and does not wait between its sets.",
    "Scales below 1 exist for tests. There, and at scales between those of the original, a refresh set has a thousandth of the orders.",
    "At most 999 refresh sets can be used before the data are loaded again, so that keys need only the first gap.",
    "Orders of queries beyond stream 12 are random permutations of our own.",
    "SQLite stores money as integers of cents and dates as texts. Its queries compute with these integers, so sums are exact, too. \
     Averages and ratios are binary floating point there.",
    "On SQLite, streams share one session for each thread of the driver. With fewer CPUs than streams, a question waits for another \
     stream's, and that time counts.",
    "Averages and ratios have as many digits as each engine gives them.",
    "Foreign keys, the ten secondary indexes and collation by bytes are the same on every engine.",
    "Neither price nor audit is part of it, and no figure is multiplied by the scale.",
];
