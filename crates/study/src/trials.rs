//! The trials of a plan: shuffles blocks and draws seeds.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use record::plan::PlannedTrial;
use std::collections::BTreeMap;

/// Each block has each cell once, in its own order. A block's seed depends only on the study's seed and the block's
/// number, so another contender or another block changes no inputs. `cells` are the ids of cells, each with the hosts of a contender
/// that has several.
pub fn trials(seed: u64, blocks: u32, cells: &[(u32, &[String])]) -> Vec<PlannedTrial> {
    let mut seeds = Pcg64::seed_from_u64(seed);
    let hosts: BTreeMap<u32, &[String]> = cells.iter().copied().collect();
    let host = |cell: u32, block: u32| {
        let hosts = hosts.get(&cell).filter(|hosts| !hosts.is_empty())?;
        Some(hosts[(block as usize - 1) % hosts.len()].clone())
    };
    let mut trials = Vec::new();
    for block in 1..=blocks {
        let seed = seeds.next_u64() >> BITS_BEYOND_EVERY_READER;
        let mut order = cells.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        shuffle(&mut order, &mut Pcg64::seed_from_u64(seed));
        trials.extend(order.into_iter().map(|cell| PlannedTrial { id: 0, block, cell, seed, host: host(cell, block) }));
    }
    for (id, trial) in (1..).zip(&mut trials) {
        trial.id = id;
    }
    trials
}

/// Many JSON readers hold numbers as floating point; 53 bits are exact in all of them.
const BITS_BEYOND_EVERY_READER: u32 = 11;

/// Fisher–Yates shuffle: every order is equally likely.
fn shuffle(order: &mut [u32], random: &mut impl Rng) {
    for last in (1..order.len()).rev() {
        order.swap(last, below(last as u64 + 1, random));
    }
}

/// A number below `bound`, all equally likely: numbers in the last, incomplete round are drawn again.
fn below(bound: u64, random: &mut impl Rng) -> usize {
    let whole_rounds = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = random.next_u64();
        if drawn < whole_rounds {
            return usize::try_from(drawn % bound).unwrap_or_default();
        }
    }
}
