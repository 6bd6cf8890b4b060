//! How machines change places and start order from block to block. This separates the effects of the machine, of its
//! place on the host and of its start. It belongs to the meaning of a plan: running it and analysing its records must
//! use the same rule.
//!
//! Each block shifts both, by different amounts. Of `count` machines, machine *m* has place *m* + places and is
//! started as number *m* + starts, both wrapped around. The shift of places increases by one per block. The shift of
//! starts alternates between the lower and the upper half of the numbers. So the difference of the shifts, which
//! pairs places with positions in the start order, changes too. After each round of `count` blocks, the shift of starts
//! moves on by one. With three machines or more, three blocks suffice to separate the three effects, if these add up.

/// By how much places and start order are shifted in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rotation {
    pub places: u32,
    pub starts: u32,
}

impl Rotation {
    /// The rotation of a block, counted from 1, with this many machines side by side.
    pub fn of_block(block: u32, count: u32) -> Self {
        let count = count.max(1);
        let (round, step) = (block.saturating_sub(1) / count, block.saturating_sub(1) % count);
        let of_halves = step / 2 + if step % 2 == 0 { 0 } else { count.div_ceil(2) };
        Self { places: step, starts: (of_halves + round % count) % count }
    }

    /// The place of a machine. Both are counted from 1.
    pub fn place(self, machine: u32, count: u32) -> u32 {
        shifted(machine, self.places, count)
    }

    /// The position of a machine in the start order. Both are counted from 1.
    pub fn start(self, machine: u32, count: u32) -> u32 {
        shifted(machine, self.starts, count)
    }
}

fn shifted(machine: u32, by: u32, count: u32) -> u32 {
    (machine.saturating_sub(1) + by) % count.max(1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Machine, place and start order of each machine in each of the first blocks.
    fn rows(count: u32, blocks: u32) -> Vec<[u32; 3]> {
        let of_block = |block| {
            let rotation = Rotation::of_block(block, count);
            (1..=count).map(move |machine| [machine, rotation.place(machine, count), rotation.start(machine, count)])
        };
        (1..=blocks).flat_map(of_block).collect()
    }

    fn pairs(rows: &[[u32; 3]], one: usize, other: usize) -> BTreeSet<(u32, u32)> {
        rows.iter().map(|row| (row[one], row[other])).collect()
    }

    #[test]
    fn the_first_blocks_of_two_three_and_four_machines() {
        let shifts = |count: u32, blocks: u32| -> Vec<(u32, u32)> {
            let rotation = |block| Rotation::of_block(block, count);
            (1..=blocks).map(rotation).map(|rotation| (rotation.places, rotation.starts)).collect()
        };
        assert_eq!(shifts(1, 3), [(0, 0); 3]);
        assert_eq!(shifts(2, 5), [(0, 0), (1, 1), (0, 1), (1, 0), (0, 0)]);
        assert_eq!(shifts(3, 4), [(0, 0), (1, 2), (2, 1), (0, 1)]);
        assert_eq!(shifts(4, 5), [(0, 0), (1, 2), (2, 1), (3, 3), (0, 1)]);
        assert_eq!(shifts(5, 5), [(0, 0), (1, 3), (2, 1), (3, 4), (4, 2)]);
        assert_eq!(Rotation::of_block(0, 0), Rotation { places: 0, starts: 0 });
    }

    proptest! {
        #[test]
        fn in_each_block_every_place_and_every_start_is_taken_once(count in 1..70_u32, block in 1..10_000_u32) {
            let rotation = Rotation::of_block(block, count);
            let places: BTreeSet<u32> = (1..=count).map(|machine| rotation.place(machine, count)).collect();
            let starts: BTreeSet<u32> = (1..=count).map(|machine| rotation.start(machine, count)).collect();
            let all: BTreeSet<u32> = (1..=count).collect();
            prop_assert!(places == all && starts == all);
        }

        #[test]
        fn in_as_many_blocks_as_machines_each_has_every_place_and_every_start_once(count in 1..40_u32) {
            let rows = rows(count, count);
            let all = (count * count) as usize;
            prop_assert_eq!((pairs(&rows, 0, 1).len(), pairs(&rows, 0, 2).len()), (all, all));
            // An even number of machines cannot have all pairs of place and start in so few blocks, but all shifts but one.
            let met = pairs(&rows, 1, 2).len();
            prop_assert!(met == if count % 2 == 1 { all } else { all - count as usize }, "{} of {}", met, all);
        }

        #[test]
        fn in_the_square_of_that_every_pair_of_shifts_occurs_once(count in 1..40_u32, from in 0..3_u32) {
            let mut seen: BTreeMap<Rotation, u32> = BTreeMap::new();
            let first = from * count * count + 1;
            for block in first..first + count * count {
                *seen.entry(Rotation::of_block(block, count)).or_default() += 1;
            }
            prop_assert!(seen.len() == (count * count) as usize && seen.values().all(|times| *times == 1));
        }
    }
}
