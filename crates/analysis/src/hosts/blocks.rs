//! On which host each block of a contender ran, by the plan.

use record::plan::Plan;
use std::collections::BTreeMap;

/// The host of each block of a cell, where it has several.
pub fn of_blocks(plan: &Plan, cell: u32) -> BTreeMap<u32, &str> {
    let own = plan.trials.iter().filter(|trial| trial.cell == cell);
    own.filter_map(|trial| Some((trial.block, trial.host.as_deref()?))).collect()
}

/// The host of a trial, where its contender has several.
pub fn of_trial(plan: &Plan, id: u32) -> Option<&str> {
    plan.trials.iter().find(|trial| trial.id == id)?.host.as_deref()
}

/// For each of these blocks of two cells the block for which it counts: the first one on the same pair of hosts, or itself if it is
/// within one host.
pub fn units(plan: &Plan, cells: [u32; 2], blocks: impl Iterator<Item = u32>) -> BTreeMap<u32, u32> {
    let [one, other] = cells.map(|cell| of_blocks(plan, cell));
    let mut first = BTreeMap::new();
    let unit = |block: u32| match (one.get(&block), other.get(&block)) {
        (Some(one), Some(other)) if one != other => (block, *first.entry((*one, *other)).or_insert(block)),
        _ => (block, block),
    };
    blocks.map(unit).collect()
}

/// Whether two cells ran on different hosts.
pub fn are_different(plan: &Plan, [one, other]: [u32; 2]) -> bool {
    of_blocks(plan, one) != of_blocks(plan, other)
}
