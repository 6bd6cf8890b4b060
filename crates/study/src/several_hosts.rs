//! Contenders with several hosts: which one a trial runs on, and whether hosts may be measured at the same time.

use crate::catalogs::Catalogs;
use crate::problems::Flaw;
use crate::shape::{Placement, kind_and_table};
use crate::typed::{TypedCell, TypedPlan};
use record::plan::{Cell, PlannedTrial};

/// Whether trials on different hosts may run at the same time: neither a machine nor load is on this host.
pub fn are_apart(cells: &[TypedCell]) -> bool {
    cells.iter().all(|cell| {
        let is_driven_here = cell.load.placement == Placement::Outside && cell.load.from.is_empty();
        !cell.platform.hosts().is_empty() && !is_driven_here
    })
}

/// The trials that run one after another, for each host whose trials may run at the same time as those of others. Otherwise all
/// are in one list.
pub fn lanes<'a>(plan: &TypedPlan, trials: &'a [PlannedTrial]) -> Vec<Vec<&'a PlannedTrial>> {
    let are_apart = are_apart(plan.typed());
    let mut lanes: Vec<Vec<&PlannedTrial>> = Vec::new();
    for trial in trials {
        match lanes.iter_mut().find(|lane| !are_apart || lane[0].host == trial.host) {
            Some(lane) => lane.push(trial),
            None => lanes.push(vec![trial]),
        }
    }
    lanes
}

/// The hosts of each cell's contender, if it has several; each block runs on the next one.
pub fn hosts(cells: &[Cell], catalogs: &Catalogs) -> Vec<Vec<String>> {
    let of_cell = |cell: &Cell| {
        let (kind, table) = kind_and_table(cell, "platform")?;
        Some((catalogs.platform_settings)(kind, &table)?.ok()?.hosts().to_vec())
    };
    cells.iter().map(|cell| of_cell(cell).unwrap_or_default()).collect()
}

/// What is wrong with the hosts of a study's cells. `line` is that of `blocks`.
pub fn problem(blocks: u32, cells: &[Cell], hosts: &[Vec<String>], line: Option<usize>) -> Option<Flaw> {
    let mut each = cells.iter().zip(hosts);
    if let Some((cell, hosts)) = each.clone().find(|(_, hosts)| hosts.len() > blocks as usize) {
        let expected = format!("at least {}, so that each host of \"{}\" is measured", hosts.len(), cell.contender);
        return Some(Flaw::new(line, "blocks", format!("found {blocks}"), expected));
    }
    let (baseline, own) = each.clone().find(|(cell, _)| cell.baseline)?;
    let may_be_compared = |others: &Vec<String>| {
        others == own || others.len() == own.len() && others.iter().all(|host| !own.contains(host))
    };
    let (cell, others) = each.find(|(_, others)| !may_be_compared(others))?;
    let expected = format!(
        "the hosts of the baseline \"{}\" in the same order, or as many others: {}",
        baseline.contender,
        if own.is_empty() { "it has none".to_owned() } else { own.join(", ") }
    );
    let found = if others.is_empty() {
        format!("missing in \"{}\"", cell.contender)
    } else {
        format!("found {} of \"{}\"", others.join(", "), cell.contender)
    };
    Some(Flaw::new(None, "platform.hosts", found, expected))
}
