//! Which cells of a plan are compared with each other.

use record::plan::{Cell, Plan};

/// Cells that differ only in their contender, in the order of the plan.
pub struct Group<'a> {
    pub coordinates: String,
    pub cells: Vec<&'a Cell>,
}

pub fn of_plan(plan: &Plan) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for cell in &plan.cells {
        let same =
            |group: &&mut Group<'_>| group.cells[0].scenario == cell.scenario && group.cells[0].sweep == cell.sweep;
        match groups.iter_mut().find(same) {
            Some(group) => group.cells.push(cell),
            None => groups.push(Group { coordinates: cell.coordinates(), cells: vec![cell] }),
        }
    }
    groups
}
