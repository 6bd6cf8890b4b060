//! What the bystander did: the machine beside which the others are measured. It is in no score, since it may work for
//! only a part of the window, with other data and with another metric.

use crate::estimate::Estimate;
use crate::{student, throughput, validity};
use record::plan::Cell;
use record::run::Run;
use record::trial::Metric;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bystander {
    /// Counted from 1.
    pub machine: u32,
    /// The metric of its own workload; empty if it was never driven.
    pub metric: Metric,
    /// Over the time in which it worked. `None` if it stood idle, or counted nothing in some trial.
    pub throughput: Option<Estimate>,
}

/// `None` for a cell whose machines are all measured.
pub fn of_cell(run: &Run, cell: &Cell) -> Option<Bystander> {
    let machine = cell.bystander()?;
    let drivers = || {
        validity::valid_trials(run, cell.id).filter_map(move |trial| {
            let driver = trial.machines.get((machine as usize).checked_sub(1)?)?.record.driver.as_ref()?;
            Some((trial.record.block, driver))
        })
    };
    let metric = drivers().next().map(|(_, driver)| driver.metric.clone()).unwrap_or_default();
    let rates: Option<Vec<(u32, f64)>> = drivers()
        .map(|(block, driver)| Some((block, throughput::of_window(driver).filter(|rate| *rate > 0.0)?)))
        .collect();
    Some(Bystander { machine, metric, throughput: rates.and_then(student::geometric_mean_of_blocks) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic::consolidated;
    use serde_json::json;

    /// Three machines; the second does half as many transactions of another kind as a single machine does orders.
    fn beside_another(blocks: u32) -> (Run, Cell) {
        let mut run = consolidated::run(blocks, None);
        let cell = run.plan.cells.iter_mut().find(|cell| cell.machines() == 3).unwrap();
        cell.settings
            .set("machine.exception", json!({ "number": 2, "load": "same", "workload": { "kind": "sysbench-oltp" } }))
            .unwrap();
        let cell = cell.clone();
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == cell.id) {
            trial.bystander = cell.bystander();
            let driver = trial.machines[1].record.driver.as_mut().unwrap();
            driver.metric.name = "TPS".to_owned();
            (driver.metric.per_ms, driver.measured_ms) = (1_000, 2_000);
            for kind in &mut driver.kinds {
                (kind.committed, kind.rolled_back) = if kind.kind == "new-order" { (50, 0) } else { (7, 0) };
            }
        }
        (run, cell)
    }

    #[test]
    fn what_it_did_is_told_in_its_own_unit() {
        let (run, cell) = beside_another(3);
        let found = of_cell(&run, &cell).unwrap();
        assert_eq!((found.machine, found.metric.name.as_str()), (2, "TPS"));
        let did = found.throughput.unwrap();
        assert!((did.point - 25.0).abs() < 1e-9, "50 in two seconds: {did:?}");
        let others = crate::consolidation::tests::all_of(&run).into_iter().find(|one| one.cell == cell.id).unwrap();
        assert_eq!((others.machines, others.metric.name.as_str()), (2, "NOPM"));
    }

    #[test]
    fn one_that_did_nothing_has_no_figure_and_one_that_is_measured_is_none() {
        let (mut run, cell) = beside_another(3);
        let trial = run.trials.iter_mut().find(|trial| trial.record.cell == cell.id).unwrap();
        let driver = trial.machines[1].record.driver.as_mut().unwrap();
        driver.kinds.iter_mut().for_each(|kind| (kind.committed, kind.rolled_back) = (0, 0));
        assert_eq!(of_cell(&run, &cell).unwrap().throughput, None, "failed is not zero, and not left out either");
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == cell.id) {
            trial.machines[1].record.driver = None;
        }
        let idle = of_cell(&run, &cell).unwrap();
        assert_eq!((idle.metric, idle.throughput), (Metric::default(), None));
        let all_measured = consolidated::run(3, None);
        assert_eq!(of_cell(&all_measured, &all_measured.plan.cells[4]), None);
    }
}
