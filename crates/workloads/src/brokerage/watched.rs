//! The securities on a customer's watch list.

use super::size::BrokerageSize;
use super::words::below;
use crate::random::RandomStream;
use std::collections::BTreeSet;

const FEWEST: u32 = 50;
const MOST: u32 = 150;

fn stream(seed: u64, customer: u32) -> (RandomStream, u32) {
    let mut stream = RandomStream::new(seed, "watch list", [customer, 0]);
    let count = FEWEST + below(&mut stream, MOST - FEWEST + 1);
    (stream, count)
}

pub fn count(seed: u64, customer: u32) -> u32 {
    stream(seed, customer).1
}

/// Their places, in ascending order.
pub fn securities(seed: u64, size: BrokerageSize, customer: u32) -> Vec<u32> {
    let (mut stream, count) = stream(seed, customer);
    let mut chosen = BTreeSet::new();
    while chosen.len() < count as usize {
        chosen.insert(below(&mut stream, size.securities()));
    }
    chosen.into_iter().collect()
}
