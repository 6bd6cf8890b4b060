//! The constant of the workload, with the text that must go with each of its numbers.

use super::settings::KEYS;
use crate::entry::{ThroughputMetric, WorkloadEntry, WorkloadScripts};
use crate::sql;
use engines::statement::ByDialect;

pub const KIND: &str = "order-entry";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "wholesale orders, payments and deliveries; derived from TPC-C, not comparable with it",
    keys: KEYS,
    driving_keys: &["delivery", "statements"],
    own_phases: false,
    metric: ThroughputMetric { name: "NOPM", unit: "new orders/min", per_ms: 60_000 },
    notice: NOTICE,
    deviations: DEVIATIONS,
    scripts: WorkloadScripts {
        schema: sql::files!("sql/schema"),
        finish: ByDialect {
            sqlite: include_str!("sql/finish.sql"),
            postgres: include_str!("sql/finish.postgres.sql"),
            mysql: include_str!("sql/finish.sql"),
        },
        procedures: sql::files!(servers "sql/procedures"),
        routines: &["new_order", "payment", "order_status", "delivery", "stock_level"],
        ..WorkloadScripts::NONE
    },
    // Measured by loading one and three warehouses into PostgreSQL 15, MariaDB 10.11 and SQLite: what all warehouses share (the
    // items, and each table's minimum), and each warehouse.
    stored: ByDialect {
        sqlite: &[6_400_000, 74_000_000],
        postgres: &[14_500_000, 119_600_000],
        mysql: &[59_000_000, 95_200_000],
    },
};

const NOTICE: &str = "The order-entry workload is derived from TPC-C. It does not meet all requirements of that \
    benchmark, so its results are not comparable with published TPC-C results, and NOPM is not a metric of the TPC.";

const DEVIATIONS: &[&str] = &[
    "Clients send SQL statements or call procedures, as the keys \"transactions\" and \"statements\" say; there are no \
     menus or forms, and what a terminal would display is read by the client and dropped.",
    "Clients work back to back unless the study paces by terminals: no keying time and no think time, so throughput is \
     not tied to the number of warehouses and rows of small scales are hotter than the definition intends.",
    "Warm-up and measurement take minutes, not the hours the definition asks for; steady state and the number of \
     checkpoints in the measured window are not required.",
    "Money is stored as whole cents, rates as whole ten-thousandths and moments as whole microseconds, in integers.",
    "Integers are wide enough never to overflow where the definition allows narrower numbers.",
    "Text is made of the 62 Latin letters and digits.",
    "No foreign keys are declared; the references are checked by queries after the trial.",
    "The history table has no primary key; on MariaDB it has a number of its own, which InnoDB needs anyway.",
    "On MariaDB, which cannot return the row that it updates, the row is read by one more statement.",
    "Order lines are worked on in the order of supplying warehouse and item, so that two orders cannot block each other.",
    "The level of isolation is the engine's setting and may be below the one the definition demands of Order-Status.",
    "Deferred deliveries are executed by the driver's own sessions and write no result file; the time from queueing \
     to completion is in their response times.",
    "The tests of atomicity, isolation and durability, pricing, and space for long growth are not part of a trial.",
    "The size of the database and the number of clients are set by the study; ten clients for each warehouse are not \
     required.",
];
