//! The constant of the workload, with the text that must go with each of its numbers.

use super::settings::{KEYS, SysbenchMode, SysbenchSettings, SysbenchTest};
use super::statements::BULK_ROWS;
use crate::entry::{ThroughputMetric, WorkloadEntry, WorkloadScripts};
use crate::random::{DistributionShape, Special};
use engines::statement::ByDialect;
use std::borrow::Cow;

pub const KIND: &str = "sysbench-oltp";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "point and range selects, updates, inserts and deletes on tables of one form, as in sysbench's OLTP tests",
    keys: KEYS,
    driving_keys: &[
        "test",
        "point_selects",
        "range_selects",
        "simple_ranges",
        "sum_ranges",
        "order_ranges",
        "distinct_ranges",
        "range_size",
        "index_updates",
        "non_index_updates",
        "delete_inserts",
        "skip_trx",
        "random_points",
        "number_of_ranges",
        "delta",
        "think",
    ],
    own_phases: false,
    metric: ThroughputMetric { name: "TPS", unit: "transactions/s", per_ms: 1_000 },
    notice: NOTICE,
    deviations: ALWAYS,
    // They depend on the test.
    scripts: WorkloadScripts::NONE,
    // Measured by loading 10,000 and 100,000 rows into PostgreSQL 15, MariaDB 10.11 and SQLite: each row with the primary key and
    // the index on `k`, which is a tenth at most. Tables of `bulk_insert` begin without rows.
    stored: ByDialect { sqlite: &[0, 222], postgres: &[0, 254], mysql: &[0, 233] },
};

const NOTICE: &str = "The sysbench-oltp workload does what the OLTP tests of sysbench do, in a program of its own. \
    Its results are not comparable with those of sysbench unless the version, the distribution of row numbers, the \
    tables and the statements of both are known to be the same, and then only with care.";

const ALWAYS: &[&str] = &[
    "Row numbers, texts and the order of clients come from other random numbers than sysbench's.",
    "A transaction that the database gave up is repeated with the same values after a pause, not with new ones at once; \
     it is counted with its statements once it has succeeded.",
    "A transaction that only reads is begun as one that only reads.",
    "Keys and indexes are built after the rows are loaded, and the statistics of the tables are brought up to date.",
    "Columns c and pad compare as the database's default says, as sysbench's do. A server that bakeoff starts compares by \
     bytes (locale C, collation utf8mb4_bin), so that sorting and DISTINCT mean the same on every engine; servers elsewhere \
     often have a default that takes longer.",
    "Percentiles come from histograms of high resolution, not from sysbench's 1024 buckets.",
    "A row that two transactions deleted and insert again at the same time is a conflict and repeated on every engine; \
     sysbench repeats it on PostgreSQL only.",
];

pub fn deviations(settings: &SysbenchSettings) -> Vec<Cow<'static, str>> {
    let mut all = vec![Cow::Owned(distribution(settings))];
    all.extend(ENTRY.deviations.iter().copied().map(Cow::Borrowed));
    if settings.mode == SysbenchMode::Of048 {
        all.push(Cow::Borrowed("Of sysbench 0.4.8 there are the complex and the simple mode, and no user delays."));
    }
    match settings.test {
        SysbenchTest::BulkInsert => all.push(Cow::Owned(format!(
            "A transaction is one statement of {BULK_ROWS} rows; sysbench calls one row an event and sends up to 512 KiB \
             of them at once as text. Clients fill the tables in turn; one table for each client is as sysbench has it.",
        ))),
        SysbenchTest::Insert if !settings.auto_inc => all.push(Cow::Borrowed(
            "Ids that clients choose are scattered over 62 bits instead of 32, so that no two clients choose the same. Rows \
             are inserted by a prepared statement; sysbench sends them as text.",
        )),
        SysbenchTest::Insert => all.push(Cow::Borrowed("Rows are inserted by a prepared statement; sysbench sends them as text.")),
        SysbenchTest::SelectRandomPoints | SysbenchTest::SelectRandomRanges => all.push(Cow::Owned(format!(
            "Clients share {} segments of k; sysbench gives each of its threads one.",
            settings.segments
        ))),
        _ => {}
    }
    all
}

/// The default has changed between versions of sysbench, so no number means anything without it.
fn distribution(settings: &SysbenchSettings) -> String {
    let special = |version: &str, Special { draws, band_percent, into_band_percent }: Special| {
        format!(
            "special as in sysbench {version} (rand_spec_iter {draws}, rand_spec_pct {band_percent}, rand_spec_res \
             {into_band_percent}): about {into_band_percent} % of the draws hit the middle {band_percent} % of the rows"
        )
    };
    let drawn = match settings.shape() {
        DistributionShape::Uniform => "uniform: every row is as likely as any other".to_owned(),
        DistributionShape::Gaussian { draws } => format!("gaussian, the mean of {draws} uniform draws"),
        DistributionShape::SpecialOf04(parameters) => special("0.4", parameters),
        DistributionShape::SpecialOf10(parameters) => special("1.0", parameters),
        DistributionShape::Pareto { h } => {
            format!(
                "pareto with h = {h}: {:.0} % of the draws hit the first {:.0} % of the rows",
                100.0 * (1.0 - h),
                100.0 * h
            )
        }
        DistributionShape::Zipfian { exponent } => {
            format!("zipfian with exponent {exponent}: the lower the id, the hotter")
        }
    };
    format!("Distribution of row numbers (rand_type): {drawn}. Sysbench's default depends on its version.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn first(table: &Value) -> String {
        let settings: SysbenchSettings = settings::read(table.as_object().unwrap(), KEYS).unwrap();
        deviations(&settings).remove(0).into_owned()
    }

    #[test]
    fn the_distribution_comes_first_and_in_words() {
        assert!(first(&json!({})).contains("special as in sysbench 1.0 (rand_spec_iter 12"));
        assert!(first(&json!({ "mode": "0.4.8" })).contains("special as in sysbench 0.4 ("));
        assert!(first(&json!({ "rand_type": "uniform" })).contains("uniform"));
        assert!(first(&json!({ "rand_type": "pareto" })).contains("80 % of the draws hit the first 20 % of the rows"));
    }
}
