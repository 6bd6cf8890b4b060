//! Counters of what was really executed. The audit compares them with the rules for the inputs.

use super::definition::DISTRICTS;
use super::inputs::{CustomerKey, OrderEntryInput};
use crate::effects::Tally;

settings::names! {
    /// What is counted; new orders, payments and so on are counted by kind already.
    pub enum OrderEntryCounter {
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

pub fn count(tally: &mut Tally, counter: OrderEntryCounter, amount: usize) {
    tally.add(counter as usize, amount as u64);
}

/// Counts what the inputs of a transaction decide alone.
pub fn count_inputs(tally: &mut Tally, input: &OrderEntryInput) {
    match input {
        OrderEntryInput::NewOrder(order) => {
            let remote = order.lines().iter().filter(|line| line.supply_warehouse != order.warehouse).count();
            count(tally, OrderEntryCounter::OrderLines, order.lines().len());
            count(tally, OrderEntryCounter::RemoteLines, remote);
        }
        OrderEntryInput::Payment(payment) => {
            let is_remote = payment.customer_warehouse != payment.warehouse;
            count(tally, OrderEntryCounter::RemotePayments, usize::from(is_remote));
            count(tally, OrderEntryCounter::PaymentsByLastName, usize::from(is_by_name(payment.who)));
        }
        OrderEntryInput::OrderStatus(status) => {
            count(tally, OrderEntryCounter::StatusByLastName, usize::from(is_by_name(status.who)));
        }
        OrderEntryInput::Delivery(_) | OrderEntryInput::StockLevel(_) => {}
    }
}

fn is_by_name(who: CustomerKey) -> bool {
    matches!(who, CustomerKey::LastName(_))
}

/// Counts the districts of a delivery. In those that were skipped, no order waited.
pub fn count_districts(tally: &mut Tally, delivered: usize) {
    count(tally, OrderEntryCounter::DistrictsDelivered, delivered);
    count(tally, OrderEntryCounter::DistrictsSkipped, (DISTRICTS as usize).saturating_sub(delivered));
}
