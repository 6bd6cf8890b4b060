//! The order in which each stream asks the questions.

use super::questions::COUNT;
use crate::random::Stream;

/// Those of the original, for its first streams. Stream 0 is that of the power phase.
const ORDERS: [[u8; COUNT]; 13] = [
    [14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12],
    [21, 3, 18, 5, 11, 7, 6, 20, 17, 12, 16, 15, 13, 10, 2, 8, 14, 19, 9, 22, 1, 4],
    [6, 17, 14, 16, 19, 10, 9, 2, 15, 8, 5, 22, 12, 7, 13, 18, 1, 4, 20, 3, 11, 21],
    [8, 5, 4, 6, 17, 7, 1, 18, 22, 14, 9, 10, 15, 11, 20, 2, 21, 19, 13, 16, 12, 3],
    [5, 21, 14, 19, 15, 17, 12, 6, 4, 9, 8, 16, 11, 2, 10, 18, 1, 13, 7, 22, 3, 20],
    [21, 15, 4, 6, 7, 16, 19, 18, 14, 22, 11, 13, 3, 1, 2, 5, 8, 20, 12, 17, 10, 9],
    [10, 3, 15, 13, 6, 8, 9, 7, 4, 11, 22, 18, 12, 1, 5, 16, 2, 14, 19, 20, 17, 21],
    [18, 8, 20, 21, 2, 4, 22, 17, 1, 11, 9, 19, 3, 13, 5, 7, 10, 16, 6, 14, 15, 12],
    [19, 1, 15, 17, 5, 8, 9, 12, 14, 7, 4, 3, 20, 16, 6, 22, 10, 13, 2, 21, 18, 11],
    [8, 13, 2, 20, 17, 3, 6, 21, 18, 11, 19, 10, 15, 4, 22, 1, 7, 12, 9, 14, 5, 16],
    [6, 15, 18, 17, 12, 1, 7, 2, 22, 13, 21, 10, 14, 9, 3, 16, 20, 19, 11, 4, 8, 5],
    [15, 14, 18, 17, 10, 20, 16, 11, 1, 8, 4, 22, 5, 12, 3, 9, 21, 2, 13, 6, 19, 7],
    [1, 7, 16, 17, 18, 22, 12, 6, 8, 9, 11, 4, 2, 5, 20, 21, 13, 10, 19, 3, 14, 15],
];

/// Later streams have orders of our own, which are the same in every run.
const SEED: u64 = 0;

/// The questions of a stream, counted from 1, in its order.
pub fn of_stream(stream: u32) -> [u8; COUNT] {
    let known = usize::try_from(stream).ok().and_then(|stream| ORDERS.get(stream));
    known.copied().unwrap_or_else(|| {
        let mut order = ORDERS[0];
        order.sort_unstable();
        Stream::new(SEED, "order of questions", [stream, 0]).shuffle(&mut order);
        order
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_stream_asks_every_question_once_in_an_order_of_its_own() {
        let orders: BTreeSet<_> = (0..65).map(of_stream).collect();
        assert_eq!(orders.len(), 65);
        for order in orders {
            assert!(order.into_iter().collect::<BTreeSet<u8>>().into_iter().eq(1..=22), "{order:?}");
        }
    }
}
