//! Counters of what was really executed. The audit compares them with the rules for the inputs.

use crate::effects::Tally;

settings::names! {
    /// What is counted; new orders, payments and so on are counted by kind already.
    pub enum Counter {
        OrderLines => "order_lines",
        RemoteLines => "remote_lines",
        OrdersRolledBack => "orders_rolled_back",
        RemotePayments => "remote_payments",
        PaymentsByLastName => "payments_by_last_name",
        StatusByLastName => "status_by_last_name",
        DistrictsDelivered => "districts_delivered",
        DistrictsSkipped => "districts_skipped",
    }
}

pub fn count(tally: &mut Tally, counter: Counter, amount: usize) {
    tally.add(counter as usize, amount as u64);
}
