//! Which cells of a plan are compared with each other.

use crate::gathered::by_first;
use record::plan::{Cell, Plan};

/// Cells that differ only in their contender, in the order of the plan.
pub struct Group<'a> {
    pub coordinates: String,
    pub cells: Vec<&'a Cell>,
}

pub fn of_plan(plan: &Plan) -> Vec<Group<'_>> {
    let groups = by_first(plan.cells.iter().map(|cell| ((&cell.scenario, &cell.sweep), cell)));
    groups.into_iter().map(|(_, cells)| Group { coordinates: cells[0].coordinates(), cells }).collect()
}
