//! Counters of what was really executed. The audit compares them with what the test asks for.

use crate::effects::Tally;

settings::names! {
    /// What is counted.
    pub enum SysbenchCounter {
        /// Round trips, BEGIN and COMMIT included, counted as they are asked.
        Queries => "queries",
        /// The same queries, counted and sorted as they are answered.
        Reads => "queries_read",
        Writes => "queries_write",
        Others => "queries_other",
        /// Changes that found no row; they are among the others.
        MissedChanges => "missed_changes",
        /// Selects that returned another number of rows than there must be.
        WrongSelects => "wrong_selects",
    }
}

pub fn count(tally: &mut Tally, counter: SysbenchCounter) {
    tally.add(counter as usize, 1);
}
