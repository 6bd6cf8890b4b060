//! The constant of the workload, with the text that must go with each of its numbers.

use super::settings::KEYS;
use crate::entry::{ThroughputMetric, WorkloadEntry, WorkloadScripts};
use crate::sql;
use engines::statement::ByDialect;

pub const KIND: &str = "dvd-store";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "an online shop: login, searches by category and words, purchases; follows DVD Store 2 and 3",
    keys: KEYS,
    driving_keys: &[
        "n_searches",
        "search_batch_size",
        "n_line_items",
        "pct_newcustomers",
        "think_time",
        "n_reviews",
        "pct_newmember",
        "pct_newreviews",
        "pct_newhelpfulness",
        "search_depth",
        "statements",
    ],
    own_phases: false,
    metric: ThroughputMetric { name: "OPM", unit: "orders/min", per_ms: 60_000 },
    notice: NOTICE,
    deviations: DEVIATIONS,
    scripts: WorkloadScripts {
        schema: sql::files!("sql/schema"),
        finish: sql::files!("sql/finish"),
        put_back: ByDialect { mysql: include_str!("sql/put_back.mysql.sql"), ..WorkloadScripts::NONE.put_back },
        procedures: sql::files!(servers "sql/procedures"),
        routines: &["login", "purchase"],
        word_indexes: &["products_by_actor", "products_by_title"],
    },
    // Measured by loading 30 MB and 1 GB of version 2, and 2 and 6 MB of version 3, into PostgreSQL 15, MariaDB 10.11 and SQLite:
    // the least that files and indexes for words take, each customer with the orders that come with it, each product, and each
    // review with its ratings.
    stored: ByDialect {
        sqlite: &[0, 395, 77, 1_428],
        postgres: &[0, 708, 236, 2_452],
        mysql: &[32_600_000, 520, 527, 2_501],
    },
};

/// Additions of version 3.
pub const COMMUNITY: WorkloadScripts = WorkloadScripts {
    schema: sql::files!("sql/community.schema"),
    finish: sql::files!("sql/community.finish"),
    ..WorkloadScripts::NONE
};

const NOTICE: &str = "The dvd-store workload follows DVD Store 2 and 3, the open-source test of Dave Jaffe and Todd \
    Muirhead. It shares no code, SQL or data with them and decides some things differently, so its orders per minute are not \
    comparable with theirs.";

const DEVIATIONS: &[&str] = &[
    "Text is our own: as many title words, first names, surnames and review words as in the original, other ones. Reviews \
     consist of words of six letters that mean nothing.",
    "The time of an order counts everything that its customer waits for. The prices of a cart are read within the purchase, and \
     their time counts, too.",
    "Stock is taken by one statement that locks its row, not read and written back, so that no sale is lost. Carts are \
     sorted by product, so that two purchases cannot block each other.",
    "A stock of less than 3 is ordered again and filled up at once to 250, or 2,500 for one of the hot products, by a trigger on \
     every engine. So the share of orders that are rolled back falls from about 2 % to about 1 % of the orders with default \
     settings, and stays there.",
    "New customers' names have numbers below 1,000,000,000,000, not up to the number of customers, so that a long run does \
     not run out of names.",
    "A login shows the ten newest entries of the customer's history, in one statement.",
    "Searches by actor and title need both words, in any order, on every engine. The original searches for the \
     phrase on SQL Server and Oracle.",
    "A product that is twice in a cart is paid for twice.",
    "Customers that ask for a membership are those of the order, as are those that review and rate; each of these has a chance \
     of its own. Ratings that are loaded are by any customer, not by the review's author.",
    "The customer's user name alone is unique; an index on name and password would be a second one of the same rows. Order lines \
     have a primary key. There is one index of the columns that several engines of the original index differently.",
    "No store number is part of a table's name; several stores are several databases, by engine.instances.",
    "The level of isolation is the engine's setting.",
];
