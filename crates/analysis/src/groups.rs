//! Which cells of a plan are compared with each other.

use crate::findings::{Finding, What};
use crate::gathered::by_first;
use record::plan::{Cell, Plan};

/// Cells that differ only in their contender, in the order of the plan.
pub struct Group<'a> {
    pub coordinates: String,
    pub cells: Vec<&'a Cell>,
}

impl<'a> Group<'a> {
    /// Each cell beside that of the baseline; none without a baseline.
    pub fn with_baseline(&self) -> impl Iterator<Item = [&'a Cell; 2]> {
        let baseline = self.cells.iter().find(|cell| cell.baseline);
        baseline.into_iter().flat_map(|base| self.beside(base))
    }

    /// Each other cell beside this one.
    pub fn beside(&self, base: &'a Cell) -> impl Iterator<Item = [&'a Cell; 2]> {
        self.cells.iter().filter(|cell| cell.id != base.id).map(move |cell| [base, cell])
    }

    /// The cell with which others are compared: the baseline's, or else the first.
    pub fn base(&self) -> Option<&'a Cell> {
        self.cells.iter().find(|cell| cell.baseline).or(self.cells.first()).copied()
    }
}

/// A finding at each point of a plan of which there is something to say.
pub(crate) fn findings(plan: &Plan, what: impl Fn(&Group<'_>) -> Option<What>) -> Vec<Finding> {
    let finding = |group: Group<'_>| Some(Finding::new(what(&group)?).at(&group.coordinates));
    of_plan(plan).into_iter().filter_map(finding).collect()
}

pub fn of_plan(plan: &Plan) -> Vec<Group<'_>> {
    let groups = by_first(plan.cells.iter().map(|cell| ((&cell.scenario, &cell.sweep), cell)));
    groups.into_iter().map(|(_, cells)| Group { coordinates: cells[0].coordinates(), cells }).collect()
}
