//! Counters of what was really executed. The audit compares them with the rules for the inputs.

use super::definition::DISTRICTS;
use super::inputs::{Input, Who};
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

/// Counts what the inputs of a transaction decide alone.
pub fn count_inputs(tally: &mut Tally, input: &Input) {
    match input {
        Input::NewOrder(order) => {
            let remote = order.lines().iter().filter(|line| line.supply_warehouse != order.warehouse).count();
            count(tally, Counter::OrderLines, order.lines().len());
            count(tally, Counter::RemoteLines, remote);
        }
        Input::Payment(payment) => {
            let is_remote = payment.customer_warehouse != payment.warehouse;
            count(tally, Counter::RemotePayments, usize::from(is_remote));
            count(tally, Counter::PaymentsByLastName, usize::from(is_by_name(payment.who)));
        }
        Input::OrderStatus(status) => count(tally, Counter::StatusByLastName, usize::from(is_by_name(status.who))),
        Input::Delivery(_) | Input::StockLevel(_) => {}
    }
}

fn is_by_name(who: Who) -> bool {
    matches!(who, Who::LastName(_))
}

/// Counts the districts of a delivery. In those that were skipped, no order waited.
pub fn count_districts(tally: &mut Tally, delivered: usize) {
    count(tally, Counter::DistrictsDelivered, delivered);
    count(tally, Counter::DistrictsSkipped, (DISTRICTS as usize).saturating_sub(delivered));
}
