//! The one of several machines that was to differ: in what, and whether it is measured. What became of it and of the others is told
//! elsewhere.

use crate::document::Block;
use crate::format;
use record::plan::{Cell, Plan};
use serde_json::Value;

/// A sentence for each cell that has one; nothing for all others.
pub fn blocks(plan: &Plan, title: fn(&Cell) -> String) -> Option<Block> {
    let said: Vec<String> =
        plan.cells.iter().filter_map(|cell| Some(format!("{}: {}", title(cell), said(cell)?))).collect();
    (!said.is_empty()).then_some(Block::List(said))
}

fn said(cell: &Cell) -> Option<String> {
    let odd = cell.settings.get("machine")?.get("odd")?;
    let number = odd.get("number")?;
    let workload = odd.get("workload").and_then(|workload| workload.get("kind")?.as_str());
    let parts = [
        workload.map(|kind| format!("held other data than the others, and its clients did other work: {kind}")),
        odd.get("clients")
            .and_then(Value::as_u64)
            .map(|clients| format!("had a number of clients of its own: {clients}")),
        odd.get("cpu_quota").and_then(Value::as_f64).map(quota),
        odd.get("load").and_then(Value::as_str).and_then(load).map(str::to_owned),
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

fn quota(share: f64) -> String {
    format!("got at most {} % of its vCPUs' time", format::decimal(share * 100.0, 0))
}

/// When it was worked on, if not always.
fn load(word: &str) -> Option<&'static str> {
    Some(match word {
        "idle" => "was not worked on",
        "stops" => "was worked on until the middle of the measured window",
        "starts" => "was worked on from the middle of the measured window on",
        "burst" => "was worked on in the middle third of the measured window",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(odd: &Value) -> String {
        let mut plan = record::synthetic::run(1).plan;
        plan.cells[1].settings["machine"]["count"] = json!(3);
        plan.cells[1].settings["machine"]["odd"] = odd.clone();
        match blocks(&plan, |cell| cell.contender.clone()) {
            Some(Block::List(mut said)) if said.len() == 1 => said.remove(0),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn everything_in_which_it_differs_is_said() {
        let workload = json!({ "kind": "sysbench-oltp", "tables": 1 });
        let all = json!({ "number": 2, "load": "starts", "clients": 9, "cpu_quota": 0.5, "workload": workload });
        let expected = "kvm: machine 2 held other data than the others, and its clients did other work: sysbench-oltp; it had a number \
                        of clients of its own: 9; it got at most 50 % of its vCPUs' time; it was worked on from the middle of the \
                        measured window on. What the others do beside it is measured: it is in no total and no score, and its data are \
                        checked as theirs are.";
        assert_eq!(told(&all), expected);
        let held_back = json!({ "number": 3, "load": "same", "cpu_quota": 0.25 });
        let expected = "kvm: machine 3 got at most 25 % of its vCPUs' time. It is measured as the others are.";
        assert_eq!(told(&held_back), expected);
    }

    #[test]
    fn machines_that_are_all_alike_need_no_word() {
        assert_eq!(blocks(&record::synthetic::run(1).plan, |cell| cell.contender.clone()), None);
    }
}
