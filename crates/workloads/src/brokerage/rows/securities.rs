//! Securities and their prices.

use super::super::calendar::{self, FIRST_DAY, FIRST_MARKET_DAY, MARKET_DAYS, date};
use super::super::market::{EXCHANGE_IDS, Security};
use super::super::price::{self, HIGHEST_CENTS, LOWEST_CENTS};
use super::super::size::BrokerageSize;
use super::super::trading::status;
use super::super::{ids, words};
use super::{integers, rows_of, stream, texts};
use crate::chunks::Chunk;
use words::below;

/// 1900-01-01, in days since 1970.
const FIRST_START_DAY: i64 = -25_567;
const SHARES: (i64, i64) = (4_000_000, 9_500_000_000);
const EARNINGS_RATIO_HUNDREDTHS: (i64, i64) = (100, 12_000);
const HIGH_CENTS: (i64, i64) = (2_500, HIGHEST_CENTS);
const DAYS_OF_52_WEEKS: i64 = 364;
const WITH_DIVIDEND_PERCENT: u32 = 60;
const YIELD_HUNDREDTHS: (i64, i64) = (1, 12_000);
/// Parts of the yield, in hundredths.
const DIVIDEND_HUNDREDTHS: (i64, i64) = (20, 30);

pub fn security(seed: u64, place: u32) -> impl Chunk {
    rows_of(1, move |_, sink| {
        let security = Security::new(place);
        let mut stream = stream(seed, "security", place);
        texts(sink, &[security.symbol().as_str(), security.issue_name(), status::ACTIVE, security.name().as_str()]);
        sink.text(EXCHANGE_IDS[security.exchange() as usize]);
        integers(sink, &[ids::id(security.company), stream.uniform(SHARES.0, SHARES.1)]);
        let start = stream.uniform(FIRST_START_DAY, FIRST_MARKET_DAY - 1);
        sink.date(date(start));
        sink.date(date(stream.uniform(start, FIRST_MARKET_DAY - 1)));
        sink.integer(stream.uniform(EARNINGS_RATIO_HUNDREDTHS.0, EARNINGS_RATIO_HUNDREDTHS.1));
        let high = stream.uniform(HIGH_CENTS.0, HIGH_CENTS.1);
        for cents in [high, stream.uniform(LOWEST_CENTS, high)] {
            sink.integer(cents);
            sink.date(date(stream.uniform(FIRST_DAY - DAYS_OF_52_WEEKS, FIRST_DAY)));
        }
        let with_dividend = below(&mut stream, 100) < WITH_DIVIDEND_PERCENT;
        let percent = if with_dividend { stream.uniform(YIELD_HUNDREDTHS.0, YIELD_HUNDREDTHS.1) } else { 0 };
        let part = stream.uniform(DIVIDEND_HUNDREDTHS.0, DIVIDEND_HUNDREDTHS.1);
        integers(sink, &[percent * part / 100, percent]);
    })
}

pub fn daily_market(seed: u64, place: u32) -> impl Chunk {
    let mut stream = stream(seed, "daily market", place);
    let symbol = Security::new(place).symbol();
    rows_of(MARKET_DAYS, move |row, sink| {
        let close = stream.uniform(LOWEST_CENTS, HIGHEST_CENTS);
        sink.date(calendar::market_day(row));
        sink.text(symbol.as_str());
        integers(sink, &[close, close * 105 / 100, close * 92 / 100, stream.uniform(1_000, 10_000)]);
    })
}

pub fn last_trade(size: BrokerageSize, place: u32) -> impl Chunk {
    rows_of(1, move |_, sink| {
        let price = price::at(place, 0);
        sink.text(Security::new(place).symbol().as_str());
        integers(sink, &[calendar::end(size.days), price, price, 0]);
    })
}
