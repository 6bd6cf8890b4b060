//! Contenders with several hosts: which one a trial runs on, and whether hosts may be measured at the same time.

use crate::problems::Problem;
use crate::shape::{Placement, kind_and_table, load};
use record::plan::{Cell, Plan, PlannedTrial};

/// The hosts of a cell's contender, if it has several; each block runs on the next one.
pub fn hosts(cell: &Cell) -> Vec<String> {
    let platform = kind_and_table(cell, "platform");
    platform.map(|(kind, table)| platforms::catalog::hosts(kind, &table)).unwrap_or_default()
}

/// Whether trials on different hosts may run at the same time: neither a machine nor load is on this host.
pub fn are_apart(cells: &[Cell]) -> bool {
    cells.iter().all(|cell| {
        let load = load(cell).ok();
        let is_driven_here = load.is_none_or(|load| load.placement == Placement::Outside && load.from.is_empty());
        !hosts(cell).is_empty() && !is_driven_here
    })
}

/// The trials that run one after another, for each host whose trials may run at the same time as those of others. Otherwise all
/// are in one list.
pub fn lanes<'a>(plan: &Plan, trials: &'a [PlannedTrial]) -> Vec<Vec<&'a PlannedTrial>> {
    let are_apart = are_apart(&plan.cells);
    let mut lanes: Vec<Vec<&PlannedTrial>> = Vec::new();
    for trial in trials {
        match lanes.iter_mut().find(|lane| !are_apart || lane[0].host == trial.host) {
            Some(lane) => lane.push(trial),
            None => lanes.push(vec![trial]),
        }
    }
    lanes
}

/// What is wrong with the hosts of a study's cells. `line` is that of `blocks`.
pub fn problem(blocks: u32, cells: &[Cell], line: Option<usize>) -> Option<Problem> {
    if let Some(cell) = cells.iter().find(|cell| hosts(cell).len() > blocks as usize) {
        let expected =
            format!("at least {}, so that each host of \"{}\" is measured", hosts(cell).len(), cell.contender);
        return Some(Problem::new(line, "blocks", format!("found {blocks}"), expected));
    }
    let baseline = cells.iter().find(|cell| cell.baseline)?;
    let own = hosts(baseline);
    let may_be_compared = |cell: &&Cell| {
        let others = hosts(cell);
        others == own || others.len() == own.len() && others.iter().all(|host| !own.contains(host))
    };
    let cell = cells.iter().find(|cell| !may_be_compared(cell))?;
    let expected = format!(
        "the hosts of the baseline \"{}\" in the same order, or as many others: {}",
        baseline.contender,
        if own.is_empty() { "it has none".to_owned() } else { own.join(", ") }
    );
    let found = format!("found {} of \"{}\"", hosts(cell).join(", "), cell.contender);
    let found = if hosts(cell).is_empty() { format!("missing in \"{}\"", cell.contender) } else { found };
    Some(Problem::new(None, "platform.hosts", found, expected))
}
