//! Space that loaded data take, measured by loading one and two load units, 288,000 and 1,440,000 trades, and news of 255 and
//! 100,000 bytes into PostgreSQL 15, MariaDB 10.11 and SQLite.

use super::settings::Settings;
use engines::statement::{ByDialect, Dialect};

/// Bytes that all sizes share, of each customer with everything but trades and texts of news, of each trade with everything
/// that follows from it, and how much space a byte of such a text takes, in hundredths.
struct Measured {
    shared: u64,
    customer: u64,
    trade: u64,
    text_hundredths: u64,
}

const MEASURED: ByDialect<Measured> = ByDialect {
    sqlite: Measured { shared: 3_700_000, customer: 38_900, trade: 421, text_hundredths: 101 },
    postgres: Measured { shared: 7_800_000, customer: 104_400, trade: 837, text_hundredths: 60 },
    mysql: Measured { shared: 121_700_000, customer: 80_600, trade: 1_028, text_hundredths: 116 },
};

pub fn bytes(settings: &Settings, dialect: Dialect) -> u64 {
    let measured = MEASURED.of(dialect);
    let size = settings.size();
    let customers = u64::from(size.customers);
    // There is one news item for each customer.
    let texts = customers * u64::from(settings.news_bytes) * measured.text_hundredths / 100;
    (measured.shared + customers * measured.customer + size.trades() * measured.trade + texts) / 10 * 9
}
