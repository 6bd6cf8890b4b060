//! How long a terminal's user types and thinks.
//!
//! Typing always takes the same time for the same kind of transaction. Think times are exponentially distributed and
//! cut off at ten times their mean. They have a stream of their own, so that a client's inputs are the same with and
//! without pauses.

use super::inputs::{Card, OrderEntryClient};
use crate::workload::Pause;
use std::time::Duration;

const THINKING_MAX_MEANS: f64 = 10.0;

/// Seconds of typing before a transaction, and of thinking after it on average.
const fn seconds(card: Card) -> (u64, f64) {
    match card {
        Card::NewOrder => (18, 12.0),
        Card::Payment => (3, 12.0),
        Card::OrderStatus => (2, 10.0),
        Card::Delivery | Card::StockLevel => (2, 5.0),
    }
}

pub fn pause(client: &mut OrderEntryClient, card: Card) -> Pause {
    let (keying, mean) = seconds(card);
    // Above 0 and at most 1, so that the logarithm is finite.
    let chance = 1.0 - client.pauses.fraction();
    let thinking = (-chance.ln()).min(THINKING_MAX_MEANS) * mean;
    Pause { keying: Duration::from_secs(keying), thinking: Duration::from_secs_f64(thinking) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_has_its_mean_and_its_limit() {
        let mut client = OrderEntryClient::new(7, 3, 10);
        let drawn: Vec<f64> =
            (0..200_000).map(|_| pause(&mut client, Card::Payment).thinking.as_secs_f64() / 12.0).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        // An exponential distribution's deviation is its mean; the cut at ten means changes it by less than a ten-thousandth.
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        let longer = drawn.iter().filter(|&&times| times > 2.0).count() as f64 / drawn.len() as f64;
        assert!((longer - (-2.0_f64).exp()).abs() < 0.004, "{longer}");
        assert!(drawn.iter().all(|&times| (0.0..=10.0).contains(&times)));
        assert!(drawn.contains(&10.0), "one in 22,000 is cut off");
    }

    #[test]
    fn a_new_order_takes_longest_to_type() {
        let mut client = OrderEntryClient::new(7, 3, 10);
        let typed = [Card::NewOrder, Card::Payment, Card::OrderStatus, Card::Delivery, Card::StockLevel]
            .map(|card| pause(&mut client, card).keying.as_secs());
        assert_eq!(typed, [18, 3, 2, 2, 2]);
    }

    #[test]
    fn a_client_is_small() {
        assert!(size_of::<OrderEntryClient>() <= 80, "{} bytes", size_of::<OrderEntryClient>());
    }
}
