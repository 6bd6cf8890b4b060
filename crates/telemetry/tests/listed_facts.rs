//! `docs/facts.md` explains every fact, and every name explained there is a fact.

use std::collections::BTreeSet;
use std::path::Path;

const FACTS: &str = include_str!("../../../docs/facts.md");

/// Names between backquotes in the first column of the tables.
fn explained() -> BTreeSet<&'static str> {
    let cells = FACTS.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    cells.flat_map(|cell| cell.split('`')).filter(|name| name.contains('.')).collect()
}

#[test]
fn each_fact_has_its_reason_in_the_list_and_the_list_no_other() {
    let facts = telemetry::describe(Path::new("/"));
    let told: BTreeSet<&str> = facts.keys().map(String::as_str).collect();
    let explained = explained();
    let unexplained: Vec<_> = told.difference(&explained).collect();
    let untold: Vec<_> = explained.difference(&told).collect();
    assert!(
        unexplained.is_empty() && untold.is_empty(),
        "not in docs/facts.md: {unexplained:?}; only there: {untold:?}"
    );
}
