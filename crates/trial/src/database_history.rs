//! The work on a database that its check has to know.

use crate::validity;
use driver::plan::Driven;
use record::trial::{DriverFacts, KindTotals};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct DatabaseHistory {
    /// Nothing was driven since the tables were filled.
    pub is_fresh: bool,
    /// Sums over the data before driving, if they were not known before the trial.
    pub state: Option<BTreeMap<String, i64>>,
    /// The measured driving.
    pub driven: Option<Driven>,
    /// All driving, with the steps of a climb.
    pub all: AllDriven,
}

impl DatabaseHistory {
    /// The reason if the database hung in the window. Its clients may have waited for something that blocks everything else,
    /// too, and a check may take hours.
    pub fn why_it_hung(&self) -> Option<String> {
        validity::why_it_hung(&self.driven.as_ref()?.facts)
    }
}

#[derive(Default)]
pub(crate) struct AllDriven {
    pub whole_run: Vec<KindTotals>,
    /// Transactions that may or may not be in the database.
    pub unknown_ends: u64,
}

impl AllDriven {
    pub fn absorb(&mut self, facts: &DriverFacts) {
        self.unknown_ends += validity::unknown_ends(facts);
        self.whole_run = KindTotals::summed(self.whole_run.iter().chain(&facts.whole_run));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(committed: u64, lost: u64) -> DriverFacts {
        let mut facts = DriverFacts::default();
        facts.whole_run.push(KindTotals { committed, failed: lost, ..KindTotals::default() });
        facts.losses.lost = lost;
        facts
    }

    #[test]
    fn what_the_steps_did_counts_too_when_the_database_is_checked() {
        let mut driven = AllDriven::default();
        driven.absorb(&facts(10, 0));
        driven.absorb(&facts(20, 1));
        driven.absorb(&facts(70, 2));
        assert_eq!((driven.whole_run[0].committed, driven.whole_run[0].failed, driven.unknown_ends), (100, 3, 3));
    }
}
