//! A look ahead at the contenders' machines: the wishes that their platforms cannot meet here, and whether the machines are equal.

use crate::display::wrapped;
use analysis::equal::{self, CONNECTION, EqualRow, GOVERNOR, Sameness};
use platforms::ahead::Ahead;
use platforms::placement::{self, UsableCpus};
use record::facts::{Fact, Facts, PROCESSOR, SYSTEM_CALLS};
use record::plan::Plan;
use report::sections::equal::words;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use study::{Placement, Storage, TypedCell, TypedPlan};
use trial::site::Site;

/// The facts that platforms foresee, by cell. Nothing is known of machines elsewhere.
pub type Foreseen = BTreeMap<u32, Facts>;

pub fn of(plan: &TypedPlan, site: &Site) -> Foreseen {
    let topology = UsableCpus::of_host(&site.cpus);
    let governor = telemetry::describe(&site.cache).remove(GOVERNOR).filter(|fact| matches!(fact, Fact::Known(_)));
    let tried = OnceCell::new();
    let facts = |cell: &TypedCell| {
        let machine = &cell.machine;
        let places = placement::place(&topology, &machine.policy().ok()?, machine.count, machine.vcpus, 0).ok()?;
        let ahead = Ahead {
            memory_bytes: machine.memory_bytes.0,
            place: places.first()?,
            kernel: &machine.kernel,
            device: machine.disk.device.as_deref().filter(|_| machine.disk.storage == Storage::Device),
            tried: &tried,
            cache: &site.cache,
        };
        let foreseen = cell.platform.foreseen(&ahead);
        let known =
            |(name, value): (String, Result<String, String>)| (name, value.map_or_else(Fact::unavailable, Fact::known));
        let mut facts: Facts = foreseen.into_iter().map(known).collect();
        if !facts.is_empty() {
            facts.extend([(CONNECTION.to_owned(), Fact::known(connection(cell, &facts)))]);
            facts.extend(governor.clone().map(|governor| (GOVERNOR.to_owned(), governor)));
        }
        Some((cell.written.id, facts))
    };
    plan.planned().filter_map(facts).collect()
}

fn connection(cell: &TypedCell, facts: &Facts) -> String {
    let placement = match cell.load.placement {
        Placement::Inside => "inside",
        Placement::Outside => "outside",
    };
    let in_process = !cell.engine.entry.remote;
    equal::connection(in_process, placement, facts.contains_key(SYSTEM_CALLS).then_some("gVisor"))
}

/// The wishes that platforms cannot meet here, each as a sentence with the code of the finding in the report.
pub fn without(plan: &TypedPlan, foreseen: &Foreseen) -> Vec<String> {
    let mut lacks: BTreeMap<(&String, &String), BTreeSet<&str>> = BTreeMap::new();
    for TypedCell { written, .. } in plan.planned() {
        for (name, fact) in foreseen.get(&written.id).into_iter().flatten() {
            if let Fact::Unavailable(why) = fact {
                lacks.entry((name, why)).or_default().insert(&written.contender);
            }
        }
    }
    let sentence = |((name, why), contenders): ((&String, &String), BTreeSet<&str>)| {
        let contenders = contenders.into_iter().collect::<Vec<_>>().join(", ");
        if name == PROCESSOR {
            format!("{contenders}: {why} (more: bakeoff explain vm-emulated)")
        } else {
            format!("{contenders}: {name} as asked is unavailable, because {why} (more: bakeoff explain not-honoured)")
        }
    };
    lacks.into_iter().map(sentence).collect()
}

pub fn equal(plan: &Plan, foreseen: &Foreseen) -> Vec<EqualRow> {
    equal::rows(plan, |cell| foreseen.get(&cell.id).cloned().unwrap_or_default())
}

/// Differences that nobody asked for, and that are no contender's lack, each as a sentence.
pub fn unequal(rows: &[EqualRow]) -> Vec<String> {
    let is_flaw = |row: &&EqualRow| row.sameness == Sameness::Differs && !row.is_lacking;
    let sentence = |row: &EqualRow| {
        let [property, value, _] = words(row);
        format!("not equal on both sides: {property}: {value} (more: bakeoff explain {})", row.code)
    };
    rows.iter().filter(is_flaw).map(sentence).collect()
}

/// The rows in lines, those that are alike together.
pub fn text(rows: &[EqualRow]) -> String {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let [property, value, sameness] = words(row);
        let entry = format!("{property} {value}");
        match lines.iter_mut().find(|(known, _)| *known == sameness) {
            Some((_, all)) => all.push(entry),
            None => lines.push((sameness, vec![entry])),
        }
    }
    let line = |(sameness, all): (String, Vec<String>)| {
        format!("{}\n", wrapped(&format!("  {sameness}: {}", all.join("; ")), "    "))
    };
    lines.into_iter().map(line).collect()
}
