//! `[audit.durability]`: whether and how a run looks for acknowledged transactions after servers, guests and the host were lost.

use crate::keys::DURABILITY;
use crate::overrides::{Tables, is_inside};
use crate::problems::{Flaw, below};
use crate::source::Leaf;
use record::durability::{DurabilityPlan, Fault};
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::{Bytes, TimeSpan, nearest};

pub const AUDIT: &str = "audit";
pub const TABLE: &str = "audit.durability";

#[derive(Deserialize)]
struct AuditTable {
    faults: Vec<String>,
    drive: TimeSpan,
    holds: u32,
    hold: TimeSpan,
    cuts: Cuts,
    grain: Bytes,
    flush_delay: TimeSpan,
    seed: Option<u64>,
}

#[derive(Deserialize)]
struct Cuts {
    acknowledged: u32,
    unflushed: u32,
    growing: u32,
}

/// The audit that a study asks for; `None` if it asks for none.
pub fn asked_for(base: &[Leaf], seed: u64, problems: &mut Vec<Flaw>) -> Option<DurabilityPlan> {
    let of_audit = base.iter().filter(|leaf| leaf.path == AUDIT || is_inside(&leaf.path, AUDIT));
    let leaves: Vec<Leaf> = of_audit.cloned().collect();
    let unknown = leaves.iter().filter(|leaf| leaf.path != TABLE && !is_inside(&leaf.path, TABLE));
    problems.extend(unknown.map(|leaf| {
        let rest = leaf.path.split('.').nth(1).unwrap_or_default();
        Flaw::new(Some(leaf.line), &leaf.path, "unknown key", TABLE).with_nearest(nearest(rest, ["durability"]))
    }));
    let tables = Tables::new(&leaves);
    let written = tables.get(TABLE)?;
    let Some(written) = written.as_object() else {
        let found = format!("found {written}");
        problems.push(Flaw::new(tables.line(TABLE), TABLE, found, "a table"));
        return None;
    };
    match read(written, seed) {
        Ok(plan) => Some(plan),
        Err(found) => {
            let told = |problem: settings::Problem| {
                Flaw::from_table(TABLE, tables.line(&below(TABLE, &problem.path)), problem)
            };
            problems.extend(found.into_iter().map(told));
            None
        }
    }
}

/// The audit with every key at its default.
pub fn default_audit(seed: u64) -> DurabilityPlan {
    read(&Map::new(), seed).unwrap_or_else(|problems| unreachable!("defaults are allowed: {problems:?}"))
}

fn read(written: &Map<String, Value>, seed: u64) -> Result<DurabilityPlan, Vec<settings::Problem>> {
    let table: AuditTable = settings::read(written, DURABILITY)?;
    let faults = table.faults.iter().map(|word| fault(word)).collect::<Result<Vec<_>, _>>();
    let mut faults = faults.map_err(|problem| vec![problem])?;
    faults.sort_unstable();
    faults.dedup();
    if faults.is_empty() {
        return Err(vec![problem("found an empty list".to_owned(), None)]);
    }
    let Cuts { acknowledged, unflushed, growing } = table.cuts;
    Ok(DurabilityPlan {
        faults,
        drive_ms: table.drive.0,
        holds: table.holds,
        hold_ms: table.hold.0,
        acknowledged,
        unflushed,
        growing,
        grain_bytes: u32::try_from(table.grain.0).unwrap_or(u32::MAX),
        flush_delay_ms: table.flush_delay.0,
        seed: table.seed.unwrap_or(seed),
    })
}

fn fault(word: &str) -> Result<Fault, settings::Problem> {
    let words = Fault::ALL.map(Fault::word);
    let found = Fault::ALL.into_iter().find(|fault| fault.word() == word);
    found.ok_or_else(|| problem(format!("found \"{word}\""), nearest(word, words)))
}

fn problem(found: String, nearest: Option<&str>) -> settings::Problem {
    let words = Fault::ALL.map(|fault| format!("\"{}\"", fault.word())).join(", ");
    let problem = settings::Problem::new("faults", found, format!("a list of some of {words}"));
    settings::Problem { nearest: nearest.map(str::to_owned), ..problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source;

    fn asked(text: &str) -> (Option<DurabilityPlan>, Vec<String>) {
        let mut problems = Vec::new();
        let plan = asked_for(&source::read(text).0.base, 9, &mut problems);
        (plan, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn an_empty_table_asks_for_the_default_audit_and_no_table_for_none() {
        assert_eq!(asked("[audit.durability]"), (Some(default_audit(9)), Vec::new()));
        assert_eq!(asked("blocks = 3"), (None, Vec::new()));
    }

    #[test]
    fn keys_are_laid_over_the_defaults() {
        let (plan, problems) =
            asked("[audit.durability]\nfaults = [\"host-lost\"]\ncuts.growing = 3\ngrain = 512\nseed = 4\n");
        assert_eq!(problems, [""; 0]);
        let expected =
            DurabilityPlan { faults: vec![Fault::HostLost], growing: 3, grain_bytes: 512, ..default_audit(4) };
        assert_eq!(plan, Some(expected));
    }

    #[test]
    fn what_is_wrong_is_told_with_the_nearest_right_thing() {
        let (plan, problems) = asked("[audit.durabilty]\nholds = 3\n");
        assert_eq!((plan, problems.len()), (None, 1));
        assert!(problems[0].contains("did you mean \"durability\""), "{problems:?}");
        for (text, part) in [
            ("faults = [\"host-list\"]", "did you mean \"host-lost\""),
            ("faults = []", "found an empty list; expected a list of some of \"server-killed\""),
            ("cuts.acknowleged = 3", "did you mean \"acknowledged\""),
            ("drive = \"1ms\"", "audit.durability.drive: found"),
        ] {
            let (plan, problems) = asked(&format!("[audit.durability]\n{text}\n"));
            assert_eq!((plan, problems.len()), (None, 1), "{text}");
            assert!(problems[0].contains(part), "{problems:?}");
        }
    }
}
