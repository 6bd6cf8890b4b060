//! Counters of what was really executed. The audit compares them with the rules for the inputs.

use crate::workload::Tally;

/// Positions in [`COUNTERS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    OrderLines,
    RemoteLines,
    OrdersRolledBack,
    RemotePayments,
    PaymentsByLastName,
    StatusByLastName,
    DistrictsDelivered,
    DistrictsSkipped,
}

/// Names in the order of [`Counter`]; new orders, payments and so on are counted by kind already.
pub const COUNTERS: &[&str] = &[
    "order_lines",
    "remote_lines",
    "orders_rolled_back",
    "remote_payments",
    "payments_by_last_name",
    "status_by_last_name",
    "districts_delivered",
    "districts_skipped",
];

impl Counter {
    pub fn name(self) -> &'static str {
        COUNTERS[self as usize]
    }
}

pub fn count(tally: &mut Tally, counter: Counter, amount: usize) {
    tally.add(counter as usize, amount as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_names_of_their_places() {
        assert_eq!(Counter::OrderLines.name(), "order_lines");
        assert_eq!(Counter::DistrictsSkipped.name(), "districts_skipped");
        assert_eq!(Counter::DistrictsSkipped as usize + 1, COUNTERS.len());
    }
}
