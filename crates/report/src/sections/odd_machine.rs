//! The odd machine among several: in what it was meant to differ, whether it is measured, and what it did if it is not.
//! What the others got beside it is shown elsewhere.

use crate::document::Block;
use crate::format;
use analysis::summary::Analysis;
use record::plan::{Cell, Plan};
use record::settings::OddLoad;

/// A sentence for each cell with an odd machine; `None` if no cell has one.
pub fn blocks(plan: &Plan, analysis: &Analysis, title: fn(&Cell) -> String) -> Option<Block> {
    let of_cell = |cell| Some(format!("{}: {}{}", title(cell), said(cell)?, did(analysis, cell.id)));
    let said: Vec<String> = plan.cells.iter().filter_map(of_cell).collect();
    (!said.is_empty()).then_some(Block::List(said))
}

fn said(cell: &Cell) -> Option<String> {
    let odd = cell.odd()?;
    let number = odd.number;
    let parts = [
        odd.workload_kind()
            .map(|kind| format!("held other data than the others, and its clients did other work: {kind}")),
        odd.clients.map(|clients| format!("had a number of clients of its own: {clients}")),
        odd.cpu_quota.map(|share| format!("got at most {} % of its vCPUs' time", format::decimal(share * 100.0, 0))),
        load(odd.load).map(str::to_owned),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let measured = match cell.bystander() {
        Some(_) => {
            "What the others do beside it is measured: it is in no total and no score, and its data are checked as theirs are."
        }
        None => "It is measured as the others are.",
    };
    Some(format!("machine {number} {}. {measured}", parts.join("; it ")))
}

/// What it did while it worked; empty for a machine that is measured or did nothing.
fn did(analysis: &Analysis, cell: u32) -> String {
    let found = analysis.consolidation.iter().find(|one| one.cell == cell).and_then(|one| one.bystander.as_ref());
    let figure = found.and_then(|bystander| Some((bystander.throughput.as_ref()?, &bystander.metric.name)));
    figure.map_or_else(String::new, |(throughput, name)| {
        format!(" While it worked it did {}.", format::estimate_in(throughput, format::quantity, name))
    })
}

/// When it was under load, if not always.
fn load(load: OddLoad) -> Option<&'static str> {
    Some(match load {
        OddLoad::Same => return None,
        OddLoad::Idle => "was not worked on",
        OddLoad::Stops => "was worked on until the middle of the measured window",
        OddLoad::Starts => "was worked on from the middle of the measured window on",
        OddLoad::Burst => "was worked on in the middle third of the measured window",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::summary::analyse;
    use record::run::Run;
    use record::settings::key;
    use record::synthetic::{self, consolidated};
    use serde_json::{Value, json};

    fn told(run: &Run) -> Vec<String> {
        match blocks(&run.plan, &analyse(run), |cell| cell.contender.clone()) {
            Some(Block::List(said)) => said,
            other => panic!("{other:?}"),
        }
    }

    fn told_of(odd: &Value) -> Vec<String> {
        let mut run = synthetic::run(1);
        let settings = &mut run.plan.cells[1].settings;
        settings.set(key::COUNT, json!(3)).unwrap();
        settings.set(key::ODD, odd.clone()).unwrap();
        told(&run)
    }

    #[test]
    fn everything_in_which_it_differs_is_said() {
        let workload = json!({ "kind": "sysbench-oltp", "tables": 1 });
        let all = json!({ "number": 2, "load": "starts", "clients": 9, "cpu_quota": 0.5, "workload": workload });
        let expected = "kvm: machine 2 held other data than the others, and its clients did other work: sysbench-oltp; it had a number \
                        of clients of its own: 9; it got at most 50 % of its vCPUs' time; it was worked on from the middle of the \
                        measured window on. What the others do beside it is measured: it is in no total and no score, and its data are \
                        checked as theirs are.";
        assert_eq!(told_of(&all), [expected]);
        let held_back = json!({ "number": 3, "load": "same", "cpu_quota": 0.25 });
        let expected = "kvm: machine 3 got at most 25 % of its vCPUs' time. It is measured as the others are.";
        assert_eq!(told_of(&held_back), [expected]);
    }

    #[test]
    fn what_it_did_is_said_in_its_own_unit() {
        let mut run = consolidated::run(3, None);
        let cell = run.plan.cells.iter_mut().find(|cell| cell.machines() == 2).unwrap();
        cell.settings
            .set("machine.odd", json!({ "number": 1, "load": "same", "workload": { "kind": "slob" } }))
            .unwrap();
        let cell = cell.id;
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == cell) {
            trial.bystander = Some(1);
            let driver = trial.machines[0].record.driver.as_mut().unwrap();
            driver.metric.name = "blocks read".to_owned();
            (driver.metric.per_ms, driver.measured_ms) = (1_000, 10_000);
            driver.kinds.iter_mut().for_each(|kind| (kind.committed, kind.rolled_back) = (400, 0));
        }
        let said = told(&run).remove(0);
        assert!(
            said.ends_with(" While it worked it did 40.00 blocks read (95 % confidence interval 40.00 to 40.00)."),
            "{said}"
        );
    }

    #[test]
    fn machines_that_are_all_alike_need_no_word() {
        let run = consolidated::run(1, None);
        assert_eq!(blocks(&run.plan, &analyse(&run), |cell| cell.contender.clone()), None);
    }
}
