//! Counters of what was really executed. The audit compares them with the rules for the operations.

use crate::workload::Tally;

/// Positions in [`COUNTERS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    BlocksRead,
    BlocksScanned,
    BlocksUpdated,
    Hundreds,
    UpdatesInHundreds,
    HundredsOfSelects,
    ScansInHundreds,
    HotSpotOperations,
    HotSpotInside,
    HotSchemaOperations,
    Thoughts,
}

/// Names in the order of [`Counter`]. A block is a row, which has a page of its own.
pub const COUNTERS: &[&str] = &[
    "blocks_read",
    "blocks_scanned",
    "blocks_updated",
    "audit.hundreds",
    "audit.updates_in_hundreds",
    "audit.hundreds_of_selects",
    "audit.scans_in_hundreds",
    "hot_spot_operations",
    "hot_spot_inside",
    "hot_schema_operations",
    "thoughts",
];

impl Counter {
    pub fn name(self) -> &'static str {
        COUNTERS[self as usize]
    }
}

pub fn count(tally: &mut Tally, counter: Counter, amount: u64) {
    tally.add(counter as usize, amount);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_names_of_their_places() {
        assert_eq!(Counter::BlocksRead.name(), "blocks_read");
        assert_eq!(Counter::HotSpotInside.name(), "hot_spot_inside");
        assert_eq!(Counter::Thoughts as usize + 1, COUNTERS.len());
    }
}
