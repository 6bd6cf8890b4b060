//! The order in which each stream asks the questions.

use super::questions::COUNT;
use crate::random::Stream;

/// That of the original for the power phase. In its other orders, a question with a cycle of few others, among them the
/// heaviest, meets itself in several streams at the same place.
const POWER: [u8; COUNT] = [
    96, 7, 75, 44, 39, 80, 32, 19, 25, 78, 86, 1, 91, 21, 43, 27, 94, 45, 58, 64, 36, 33, 46, 62, 16, 10, 63, 69, 60,
    59, 37, 98, 85, 70, 67, 28, 81, 97, 66, 90, 17, 47, 95, 92, 3, 51, 35, 49, 9, 31, 11, 93, 29, 38, 22, 89, 15, 6,
    52, 50, 42, 41, 8, 12, 20, 88, 82, 23, 14, 57, 65, 71, 34, 48, 30, 74, 87, 77, 73, 84, 54, 55, 56, 2, 26, 40, 72,
    53, 79, 18, 13, 24, 4, 99, 68, 83, 61, 5, 76,
];

/// Other streams have orders of our own, which are the same in every run.
const SEED: u64 = 0;

/// The questions of a stream, counted from 1, in its order.
pub fn of_stream(stream: u32) -> [u8; COUNT] {
    let mut order = POWER;
    if stream > 0 {
        order.sort_unstable();
        Stream::new(SEED, "order of questions", [stream, 0]).shuffle(&mut order);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_stream_asks_every_question_once_in_an_order_of_its_own() {
        let orders: BTreeSet<_> = (0..41).map(of_stream).collect();
        assert_eq!(orders.len(), 41);
        for order in orders {
            assert!(order.into_iter().collect::<BTreeSet<u8>>().into_iter().eq(1..=99), "{order:?}");
        }
    }
}
