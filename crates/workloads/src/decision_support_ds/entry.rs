//! The constant of the workload, with the text that must go with each of its numbers.

use super::settings::KEYS;
use crate::entry::{ThroughputMetric, UNMEASURED, WorkloadEntry, WorkloadScripts};
use crate::sql;

pub const KIND: &str = "decision-support-ds";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "decision support: 99 large queries about a retail chain, and maintenance; derived from TPC-DS, not comparable with it",
    keys: KEYS,
    driving_keys: &["streams", "query_limit"],
    own_phases: true,
    metric: ThroughputMetric { name: "questions/h", unit: "questions/h", per_ms: 3_600_000 },
    notice: NOTICE,
    deviations: DEVIATIONS,
    scripts: WorkloadScripts {
        schema: sql::files!("sql/schema"),
        finish: sql::files!("sql/finish"),
        ..WorkloadScripts::NONE
    },
    // It does not grow in proportion to anything.
    stored: UNMEASURED,
};

const NOTICE: &str = "The decision-support-ds workload is derived from TPC-DS. It does not follow all its rules, so its \
    figures are not comparable with published TPC-DS results.";

const DEVIATIONS: &[&str] = &[
    "Queries are written anew, each for the same question. Parameters come from a generator of our own, with one seed for \
     each stream.",
    "Streams of several have random orders of our own. Only the power phase has the original's order.",
    "Rows that a question asks for several times are read once (questions 2, 4, 9, 11, 14, 23, 28, 31, 47). Averages of a \
     group that rows are compared with are window functions instead of correlated subqueries (1, 24, 30, 32).",
    "A parameter that names a column or an aggregate chooses a branch of a CASE. Question 23 is validated with 50 percent and \
     drawn with 95.",
    "Question 61 is about the time zone five hours behind Greenwich only, where the stores of small scales are. Question 74 \
     has sums, least, greatest and average payments, but no standard deviation.",
    "Categories, buying potentials and classes are drawn from the generator's whole lists.",
    "Orders of answers have more keys than the original's where those leave ties, and the place of nulls is fixed, so that a \
     limit cuts the same rows everywhere.",
    "Levels of a rollup come from a cross join with their depths, but for question 67 on servers. Full joins are written as \
     two joins. MariaDB joins the tables of questions 17, 25 and 29 in the order of the text. SQLite gets an aggregate for \
     standard deviations.",
    "Data, power, throughput and maintenance phases follow each other as in the original, but loading is no part of a figure.",
    "Scales below 1 exist for tests. There, sales do not shrink in proportion, and some dimensions not at all. Two streams \
     are allowed.",
    "Table reason has 75 rows at every scale, so answers about reasons differ from published ones (questions 85 and 93).",
    "Primary keys of sales and returns begin with the number of the order. No foreign keys are declared. The 37 secondary \
     indexes are on dates, keys and properties that reports often ask for, and are the same on every engine.",
    "Refresh sets are our own. Their days, orders and returns are drawn, with as many orders as the loaded data have on these \
     days. There are 20 of them, with days apart, and their orders have higher numbers than all before them.",
    "New sales name catalog pages by their ids. New inventory is counted by the server, with quantities that follow from the \
     keys.",
    "What is old is deleted before what is new is inserted. The functions of a refresh run follow each other in one session, \
     each in a transaction of its own.",
    "SQLite stores money as integers of cents and dates as texts. Averages and ratios are binary floating point there.",
    "On SQLite, streams share one session for each thread of the driver. With fewer CPUs than streams, a question waits for \
     another stream's, and that time counts.",
    "Averages and ratios have as many digits as each engine gives them. Text is compared by its bytes on every engine.",
    "Neither price nor audit is part of it, and no figure is multiplied by the scale.",
];
