//! A workload from its name and `--set KEY=VALUE`s.

use crate::commands::study_file;
use crate::exit::EndedWith;
use anyhow::Result;
use serde_json::{Map, Value};
use settings::Chosen;
use std::path::Path;
use study::ChosenWorkload;
use workloads::catalog::{WORKLOADS, entry};

/// Well-known names of workloads, and ours derived from them.
const PUBLISHED: [(&str, &str); 8] = [
    ("tpcc", "order-entry"),
    ("tprocc", "order-entry"),
    ("sysbench", "sysbench-oltp"),
    ("oltpreadwrite", "sysbench-oltp"),
    ("tpch", "decision-support-h"),
    ("tproch", "decision-support-h"),
    ("tpcds", "decision-support-ds"),
    ("pgbench", "file"),
];

pub fn made(kind: &str, set: &[String]) -> Result<ChosenWorkload> {
    made_with(kind, Map::new(), set)
}

/// The same for a table that already has some settings.
pub fn made_with(kind: &str, mut table: Map<String, Value>, set: &[String]) -> Result<ChosenWorkload> {
    let Some(entry) = entry(kind) else {
        let known = || WORKLOADS.iter().map(|entry| entry.kind);
        let derived = PUBLISHED.iter().find(|(name, _)| kind.to_lowercase().replace(['-', '_'], "") == *name);
        let derived = derived.map(|(_, own)| format!("; {own} is the one derived from it"));
        let nearest = || settings::nearest(kind, known()).map(|nearest| format!("; did you mean {nearest:?}?"));
        let nearest = derived.or_else(nearest);
        let known = known().collect::<Vec<_>>().join(", ");
        let nearest = nearest.unwrap_or_default();
        return Err(EndedWith::bad_input(format!("there is no workload {kind:?}{nearest}; known are {known}")).into());
    };
    for pair in set {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| EndedWith::bad_input(format!("--set {pair:?}: expected KEY=VALUE, as in warehouses=2")))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        table.insert(key.to_owned(), value);
    }
    let problems = |problems| refused("--set ", problems);
    let read = |path: &str| study_file::text(Path::new(path)).map_err(|error| error.to_string());
    let table = settings::with_texts(&table, entry.keys, &read).map_err(problems)?;
    let settings = settings::check(&table, entry.keys).map_err(problems)?;
    Ok(ChosenWorkload::new(Chosen { kind: kind.to_owned(), settings }).map_err(problems)?)
}

/// Every problem with keys from the command line.
pub fn refused(before: &str, problems: Vec<settings::Problem>) -> EndedWith {
    let lines = problems.into_iter().map(|problem| {
        let nearest = problem.nearest.map(|nearest| format!("; did you mean {nearest:?}?"));
        let (path, found, expected) = (problem.path, problem.found, problem.expected);
        format!("{before}{path}: {found}; expected {expected}{}", nearest.unwrap_or_default())
    });
    EndedWith::bad_input(lines.collect::<Vec<_>>().join("\n"))
}
