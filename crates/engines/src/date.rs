//! Calendar days, the same on every engine, on their way to it and back.

use std::fmt;

/// A day of the years 1 to 9999, which every engine supports and ten characters hold. Days count from 1970-01-01.
///
/// SQLite has no date type. Its own functions take texts such as 2026-11-21, so a date is stored there as such a text.
/// A column declared as `DATE` returns dates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

/// Days from 0000-03-01 to 1970-01-01. Years that begin in March have their leap day at the end.
const MARCH_0_TO_1970: i32 = 719_468;
const DAYS_OF_400_YEARS: u32 = 146_097;
const DAYS_OF_100_YEARS: u32 = 36_524;
const DAYS_OF_4_YEARS: u32 = 1461;

impl Date {
    const FIRST: i32 = -719_162;
    const LAST: i32 = 2_932_896;

    /// `None` outside the years 1 to 9999.
    pub const fn from_days(days: i32) -> Option<Self> {
        if days < Self::FIRST || days > Self::LAST { None } else { Some(Self(days)) }
    }

    /// `None` if there is no such day.
    pub fn from_year_month_day(year: u32, month: u32, day: u32) -> Option<Self> {
        if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let year_from_march = year - u32::from(month <= 2);
        let month_from_march = (month + 9) % 12;
        let (cycles, year_of_cycle) = (year_from_march / 400, year_from_march % 400);
        let days = cycles * DAYS_OF_400_YEARS + year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100
            + days_before(month_from_march)
            + (day - 1);
        // The 30th of February has become a day of March here, so it differs.
        Self::from_days(days.cast_signed() - MARCH_0_TO_1970)
            .filter(|found| found.year_month_day() == (year, month, day))
    }

    /// Days since 1970-01-01.
    pub const fn days(self) -> i32 {
        self.0
    }

    pub fn year_month_day(self) -> (u32, u32, u32) {
        let days = (self.0 + MARCH_0_TO_1970).cast_unsigned();
        let (cycles, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
        let odd_days = day / (DAYS_OF_4_YEARS - 1) - day / DAYS_OF_100_YEARS + day / (DAYS_OF_400_YEARS - 1);
        let year_of_cycle = (day - odd_days) / 365;
        let day_of_year = day - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = (month_from_march + 2) % 12 + 1;
        let year = cycles * 400 + year_of_cycle + u32::from(month <= 2);
        (year, month, day_of_year - days_before(month_from_march) + 1)
    }

    /// Reads a text such as 2026-11-21, and no other form.
    pub fn parse(text: &str) -> Option<Self> {
        let [year @ .., b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return None };
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0, |number, digit| Some(number * 10 + char::from(*digit).to_digit(10)?))
        };
        let year = if year.len() == 4 { number(year)? } else { return None };
        Self::from_year_month_day(year, number(&[*m1, *m2])?, number(&[*d1, *d2])?)
    }

    /// The form that SQL and every text protocol use.
    pub fn shown(self) -> [u8; 10] {
        let (year, month, day) = self.year_month_day();
        let digit = |number: u32| b'0' + (number % 10) as u8;
        [
            digit(year / 1000),
            digit(year / 100),
            digit(year / 10),
            digit(year),
            b'-',
            digit(month / 10),
            digit(month),
            b'-',
            digit(day / 10),
            digit(day),
        ]
    }
}

/// The number of days from the first of March to the first of this month.
fn days_before(month_from_march: u32) -> u32 {
    (153 * month_from_march + 2) / 5
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.year_month_day();
        write!(formatter, "{year:04}-{month:02}-{day:02}")
    }
}

/// For messages: the bare number of days would say nothing.
impl fmt::Debug for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_follows_the_one_before() {
        let lengths = |year: u32| {
            let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
            [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        };
        let mut days = Date::FIRST;
        for year in 1..=9999 {
            for (month, length) in (1..).zip(lengths(year)) {
                for day in 1..=length {
                    let date = Date::from_days(days).unwrap();
                    assert_eq!(date.year_month_day(), (year, month, day));
                    assert_eq!(Date::from_year_month_day(year, month, day), Some(date));
                    days += 1;
                }
                assert_eq!(Date::from_year_month_day(year, month, length + 1), None);
            }
        }
        assert_eq!((days, Date::from_days(days), Date::from_days(Date::FIRST - 1)), (Date::LAST + 1, None, None));
    }

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(Date::from_year_month_day(1970, 1, 1).unwrap().days(), 0);
        assert_eq!(Date::from_year_month_day(2000, 1, 1).unwrap().days(), 10_957);
    }

    #[test]
    fn texts_have_one_form() {
        for text in ["0001-01-01", "1969-12-31", "2024-02-29", "9999-12-31"] {
            let date = Date::parse(text).unwrap();
            assert_eq!((date.to_string().as_str(), date.shown().as_slice()), (text, text.as_bytes()));
        }
        for wrong in
            ["", "2023-02-29", "2024-2-29", "2024-02-29 ", "0000-01-01", "20240-1-01", "2024/02/29", "+024-02-29"]
        {
            assert_eq!(Date::parse(wrong), None, "{wrong}");
        }
    }
}
