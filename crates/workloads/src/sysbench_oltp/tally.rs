//! Counters of what was really executed. The audit compares them with what the test asks for.

use crate::workload::Tally;

/// Positions in [`COUNTERS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Round trips, BEGIN and COMMIT included, counted as they are asked.
    Queries,
    /// The same queries, counted and sorted as they are answered.
    Reads,
    Writes,
    Others,
    /// Changes that found no row; they are among the others.
    MissedChanges,
    /// Selects that returned another number of rows than there must be.
    WrongSelects,
}

/// Names in the order of [`Counter`].
pub const COUNTERS: &[&str] =
    &["queries", "queries_read", "queries_write", "queries_other", "missed_changes", "wrong_selects"];

impl Counter {
    pub fn name(self) -> &'static str {
        COUNTERS[self as usize]
    }
}

pub fn count(tally: &mut Tally, counter: Counter) {
    tally.add(counter as usize, 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_names_of_their_places() {
        assert_eq!(Counter::Queries.name(), "queries");
        assert_eq!(Counter::WrongSelects.name(), "wrong_selects");
        assert_eq!(Counter::WrongSelects as usize + 1, COUNTERS.len());
    }
}
