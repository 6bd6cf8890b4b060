//! The constant of the workload, with the text that must go with each of its numbers.

use super::settings::KEYS;
use crate::entry::{ThroughputMetric, WorkloadEntry, WorkloadScripts};
use crate::sql;
use engines::statement::ByDialect;

pub const KIND: &str = "brokerage";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "a brokerage house: customers order trades, and a market that answers executes them",
    keys: KEYS,
    driving_keys: &["statements"],
    own_phases: false,
    metric: ThroughputMetric { name: "trade results/s", unit: "trade results/s", per_ms: 1_000 },
    notice: NOTICE,
    deviations: DEVIATIONS,
    scripts: WorkloadScripts {
        schema: sql::files!("sql/schema"),
        finish: sql::files!("sql/finish"),
        put_back: ByDialect { mysql: include_str!("sql/put_back.mysql.sql"), ..WorkloadScripts::NONE.put_back },
        ..WorkloadScripts::NONE
    },
    // Measured by loading one and two load units, 288,000 and 1,440,000 trades, and news of 255 and 100,000 bytes into
    // PostgreSQL 15, MariaDB 10.11 and SQLite: what all sizes share, each customer with everything but trades and texts of news,
    // each trade with everything that follows from it, and a hundred bytes of such texts.
    stored: ByDialect {
        sqlite: &[3_700_000, 38_900, 421, 101],
        postgres: &[7_800_000, 104_400, 837, 60],
        mysql: &[121_700_000, 80_600, 1_028, 116],
    },
};

const NOTICE: &str = "The brokerage workload is derived from TPC-E. It is a separate implementation that uses neither its generator \
    nor its texts, and it is not a TPC benchmark. Its results are not comparable with published results of TPC-E.";

const DEVIATIONS: &[&str] = &[
    "Rows are our own: the original demands its own generator, with its lists of names, companies and postal codes. Ours are \
     composed of syllables; there are as many of each. Domains of mail are ours, too.",
    "A database may have fewer customers than 5,000, fewer days of initial trading than 300, another scale factor than 500 and \
     shorter news than 100,000 bytes. The defaults are 1,000 customers and 25 days.",
    "After a short initial trading accounts hold more lots for each trade, and a trade changes fewer lots: 0.18 and 1.30 after 25 \
     days, 0.05 and 1.34 after 300. With fewer than 20 days, some accounts have fewer than 50 trades.",
    "Masks of skewed draws shrink with the database, so that they cover the same share of the trades.",
    "Money is whole cents and time whole microseconds in 64-bit integers. Rates are integers, too, and earnings of companies, \
     their margins and yields are whole hundredths.",
    "The text of a news item is a text, not a binary object.",
    "Symbols, postal codes and tax ids have the forms of the original, and other letters. Each of 102 industries has companies \
     in every load unit; the competitors of a company are taken by a rule.",
    "Initial trades of a load unit have ids of their own range. Their times are whole milliseconds.",
    "Daily prices have their key in the order of symbol and date.",
    "Isolation is that of the engine's settings, read committed by default, instead of up to serializable. A trade-result locks the \
     row of its account before it reads what the account holds, and on MariaDB and MySQL the holdings, too.",
    "Frames are parts of one function. Their statements are sent by the client, and those of a market-watch are one.",
    "A market-feed is one transaction, which takes its entries by security.",
    "The market is four, each with its share of the securities. Orders that wait for their price are kept by the load engine and \
     are forgotten when driving ends.",
    "Prices follow the load engine's clock. They go on from any place of their wave, not from where the initial trading ended.",
    "Trade-cleanup runs at the beginning of driving, beside the customers, and leaves alone what was ordered since.",
    "Data maintenance pauses for a minute after each change. Its first change is due a minute after driving began.",
    "Limits of response times count from when a transaction is due. A trial that exceeds them counts, and the report shows it. The \
     average is not compared with the 90th percentile.",
    "Runs may be shorter than two hours, no rate is asked for, and nothing is asked of checkpoints and of steadiness.",
    "Trade-status and the history of a customer-position may find less where few days of trading were loaded.",
];
