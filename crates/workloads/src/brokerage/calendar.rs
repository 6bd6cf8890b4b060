//! Trading time and the calendar: eight hours a day from 9 o'clock, on the weekdays from Monday 2005-01-03.

use super::size::DAY_MS;
use engines::session::Date;

/// 2005-01-03, in days since 1970.
pub const FIRST_DAY: i64 = 12_786;
/// 2000-01-03, the first day with daily prices.
pub const FIRST_MARKET_DAY: i64 = 10_959;
pub const MARKET_WEEKS: u32 = 261;
pub const WEEKDAYS: u32 = 5;
/// Days with daily prices: the weekdays of five years.
pub const MARKET_DAYS: u32 = MARKET_WEEKS * WEEKDAYS;
const OPENING_MS: i64 = 9 * 3_600_000;
const CALENDAR_DAY_MS: i64 = 24 * 3_600_000;
const DAY_MICROSECONDS: i64 = microseconds(CALENDAR_DAY_MS);

const EPOCH: Date = match Date::from_days(0) {
    Some(date) => date,
    None => panic!("1970 is a year"),
};

/// The date that is so many days after 1970 began.
pub fn date(days: i64) -> Date {
    i32::try_from(days).ok().and_then(Date::from_days).unwrap_or(EPOCH)
}

/// The date of a day that has daily prices; the days count from 0.
pub fn market_day(day: u32) -> Date {
    date(FIRST_MARKET_DAY + i64::from(day / WEEKDAYS * 7 + day % WEEKDAYS))
}

pub const fn microseconds(ms: i64) -> i64 {
    1_000 * ms
}

/// Microseconds since 1970 of a time of a trading day; the days count from 0. A trade may end a little after its day.
fn moment_of_day(day: i64, ms: i64) -> i64 {
    let days = FIRST_DAY + day / i64::from(WEEKDAYS) * 7 + day % i64::from(WEEKDAYS);
    microseconds(days * CALENDAR_DAY_MS + OPENING_MS + ms)
}

/// Microseconds since 1970 after so many milliseconds of trading.
pub fn moment(trading_ms: i64) -> i64 {
    moment_of_day(trading_ms / DAY_MS, trading_ms % DAY_MS)
}

/// The end of so many days of trading, in the evening of the last one.
pub fn end(days: u32) -> i64 {
    moment_of_day(i64::from(days) - 1, DAY_MS)
}

/// The date of a moment.
pub fn date_of(microseconds: i64) -> Date {
    date(microseconds.div_euclid(DAY_MICROSECONDS))
}

/// The date on which cash is due: two days later.
pub fn due_date(microseconds: i64) -> Date {
    const DAYS: i64 = 2;
    date_of(microseconds + DAYS * DAY_MICROSECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_trading_are_weekdays() {
        let shown = |ms| (date_of(moment(ms)).to_string(), moment(ms).rem_euclid(DAY_MICROSECONDS) / 3_600_000_000);
        assert_eq!(shown(0), ("2005-01-03".to_owned(), 9));
        assert_eq!(shown(DAY_MS - 1), ("2005-01-03".to_owned(), 16));
        assert_eq!(shown(4 * DAY_MS), ("2005-01-07".to_owned(), 9));
        assert_eq!(shown(5 * DAY_MS), ("2005-01-10".to_owned(), 9));
        assert_eq!(date_of(end(5)).to_string(), "2005-01-07");
        assert_eq!(due_date(end(5)).to_string(), "2005-01-09");
        assert_eq!(end(1) - moment(0), microseconds(DAY_MS));
        let days = [0, 4, 5, MARKET_DAYS - 1].map(|day| market_day(day).to_string());
        assert_eq!(days, ["2000-01-03", "2000-01-07", "2000-01-10", "2004-12-31"]);
    }
}
