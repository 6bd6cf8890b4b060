//! Counters of what was really executed. The audit compares them with the rules for the operations.

use crate::effects::Tally;

settings::names! {
    /// What is counted. A block is a row, which has a page of its own.
    pub enum Counter {
        BlocksRead => "blocks_read",
        BlocksScanned => "blocks_scanned",
        BlocksUpdated => "blocks_updated",
        Hundreds => "audit.hundreds",
        UpdatesInHundreds => "audit.updates_in_hundreds",
        HundredsOfSelects => "audit.hundreds_of_selects",
        ScansInHundreds => "audit.scans_in_hundreds",
        HotSpotOperations => "hot_spot_operations",
        HotSpotInside => "hot_spot_inside",
        HotSchemaOperations => "hot_schema_operations",
        Thoughts => "thoughts",
    }
}

pub fn count(tally: &mut Tally, counter: Counter, amount: u64) {
    tally.add(counter as usize, amount);
}
