//! Refresh sets: which days of the data each of them replaces.
//!
//! A set has three windows: one of the first seven months of a year, one of the next three, and one of the last two, in three
//! different years. A window is a fortnight of which a set takes two Thursdays, when inventory is counted, and two days between
//! them. So the windows of all sets are apart.

use crate::random::RandomStream;
use engines::session::Date;

/// So many windows there are at the end of years.
pub const SETS_MAX: u32 = 20;

/// The first Thursday of inventory.
const FIRST_THURSDAY: i32 = 10_227;
const WEEK: i32 = 7;
const FORTNIGHTS: i32 = 130;
/// Sales of a window are those of two days, this long after its first Thursday.
const SALES_AFTER: i32 = 2;

const FIRST_YEAR: u32 = 1998;
const YEARS: usize = 5;
const SEASONS: usize = 3;
/// The last months of the seasons but the last one.
const LAST_MONTHS: [u32; SEASONS - 1] = [7, 10];

/// The sets are the same in every run.
const SEED: u64 = 0;

/// Days that a set replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshWindow {
    first_thursday: i32,
}

impl RefreshWindow {
    /// The two days of its sales.
    pub fn sales(self) -> [Date; 2] {
        [SALES_AFTER, SALES_AFTER + 1].map(|days| self.after(days))
    }

    /// The two days of its inventory.
    pub fn inventory(self) -> [Date; 2] {
        [0, WEEK].map(|days| self.after(days))
    }

    fn after(self, days: i32) -> Date {
        Date::from_days(self.first_thursday + days).expect("the data have days of two centuries")
    }

    /// Its season and its year, from 0.
    fn place(self) -> (usize, usize) {
        let (year, month, _) = self.sales()[0].year_month_day();
        let season = LAST_MONTHS.iter().filter(|last| month > **last).count();
        (season, (year - FIRST_YEAR) as usize)
    }
}

/// The windows of a set, which is counted from 1.
pub fn windows(set: u32) -> [RefreshWindow; SEASONS] {
    let number = set.saturating_sub(1) as usize;
    std::array::from_fn(|season| {
        let year = (number + season) % YEARS;
        let all =
            (0..FORTNIGHTS).map(|fortnight| RefreshWindow { first_thursday: FIRST_THURSDAY + fortnight * 2 * WEEK });
        let mut windows: Vec<_> = all.filter(|window| window.place() == (season, year)).collect();
        RandomStream::new(SEED, "windows of refresh sets", [0, 0]).shuffle(&mut windows);
        windows[number / YEARS % windows.len()]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn windows_of_all_sets_are_apart_and_within_the_data() {
        let mut days = BTreeSet::new();
        for set in 1..=SETS_MAX {
            let windows = windows(set);
            let years: BTreeSet<_> = windows.iter().map(|window| window.place().1).collect();
            assert_eq!(years.len(), 3, "{set}");
            assert_eq!(windows.map(|window| window.place().0), [0, 1, 2]);
            for window in windows {
                assert!((window.first_thursday..=window.first_thursday + WEEK).all(|day| days.insert(day)), "{set}");
            }
        }
        assert!(days.first().unwrap() >= &FIRST_THURSDAY);
        assert!(days.last().unwrap() < &Date::parse("2003-01-02").unwrap().days());
    }

    #[test]
    fn golden_windows() {
        let shown = windows(1).map(|window| format!("{:?} {:?}", window.inventory(), window.sales()));
        let expected = [
            "[1998-04-09, 1998-04-16] [1998-04-11, 1998-04-12]",
            "[1999-09-09, 1999-09-16] [1999-09-11, 1999-09-12]",
            "[2000-11-30, 2000-12-07] [2000-12-02, 2000-12-03]",
        ];
        assert_eq!(shown, expected);
    }
}
