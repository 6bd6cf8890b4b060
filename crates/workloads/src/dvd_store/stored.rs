//! Space that loaded data take, measured by loading 30 MB and 1 GB of version 2, and 2 and 6 MB of version 3, into PostgreSQL 15,
//! MariaDB 10.11 and SQLite.

use super::settings::Version;
use super::size::Size;
use engines::statement::{ByDialect, Dialect};

/// Bytes of each customer with the orders that come with it, of each product, and of each review with its ratings.
struct Measured {
    /// Whatever the size: the least that files and indexes for words take.
    shared: u64,
    customer: u64,
    product: u64,
    review: u64,
}

const MEASURED: ByDialect<Measured> = ByDialect {
    sqlite: Measured { shared: 0, customer: 395, product: 77, review: 1_428 },
    postgres: Measured { shared: 0, customer: 708, product: 236, review: 2_452 },
    mysql: Measured { shared: 32_600_000, customer: 520, product: 527, review: 2_501 },
};

pub fn bytes(size: Size, version: Version, dialect: Dialect) -> u64 {
    let measured = MEASURED.of(dialect);
    let reviews = match version {
        Version::Two => 0,
        Version::Three => size.reviews(),
    };
    let of = |rows: u32, bytes: u64| u64::from(rows) * bytes;
    let rows =
        of(size.customers(), measured.customer) + of(size.products(), measured.product) + of(reviews, measured.review);
    (measured.shared + rows) / 10 * 9
}
