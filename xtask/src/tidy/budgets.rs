//! How many production lines each crate may have. A budget is raised by a decision in `docs/decisions`, which says what for.
//!
//! Blank lines, tests and examples do not count.

use super::finding::Breach;
use super::source_file::RustFile;
use std::collections::BTreeMap;

/// By the crate's folder.
const BUDGETS: &[(&str, usize)] = &[
    ("agent", 2_010),
    ("analysis", 12_260),
    ("cli", 8_590),
    ("disk", 2_230),
    ("driver", 5_670),
    ("engines", 8_710),
    ("fleet", 1_510),
    ("histograms", 540),
    ("images", 2_510),
    ("machines", 2_720),
    ("platforms", 11_300),
    ("record", 5_250),
    ("report", 7_220),
    ("settings", 640),
    ("study", 3_770),
    ("telemetry", 3_960),
    ("trial", 6_930),
    ("trust", 220),
    ("uring", 580),
    ("workloads", 20_560),
    ("xtask", 5_580),
];

/// What a budget may exceed its crate by: after a larger cut it goes down, too.
const ROOM: usize = 100;

const TABLE: &str = "xtask/src/tidy/budgets.rs";

pub fn check(files: &[RustFile]) -> Vec<Breach> {
    check_against(BUDGETS, files)
}

fn check_against(budgets: &[(&str, usize)], files: &[RustFile]) -> Vec<Breach> {
    let mut counted: BTreeMap<&str, usize> = budgets.iter().map(|(name, _)| (*name, 0)).collect();
    for file in files {
        *counted.entry(file.package()).or_default() += production_lines(file);
    }
    let of_crate = |(name, lines): (&str, usize)| {
        let wrong = match budgets.iter().find(|(known, _)| *known == name) {
            None => format!("{name} has {lines} production lines and no budget; give it one"),
            Some((_, budget)) if lines > *budget => format!(
                "{name} has {lines} production lines, {} more than its budget; remove as many, or raise it with a decision",
                lines - budget
            ),
            Some((_, budget)) if lines + ROOM < *budget => {
                format!("{name} has {lines} production lines, far below its budget of {budget}; lower it")
            }
            Some(_) => return None,
        };
        Some(Breach::new(TABLE, 0, "budget", name, wrong))
    };
    counted.into_iter().filter_map(of_crate).collect()
}

fn production_lines(file: &RustFile) -> usize {
    let counts = |(index, line): &(usize, &String)| !line.trim().is_empty() && !file.is_test_line(index + 1);
    file.lines.iter().enumerate().filter(counts).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_keeps_to_its_budget_which_follows_it_down() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let files = ["crates/x/src/a.rs", "crates/x/tests/b.rs"].map(|path| RustFile::parse(path, text).unwrap());
        let found = |budgets: &[(&str, usize)]| {
            check_against(budgets, &files).into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        assert!(found(&[("x", 2)]).is_empty() && found(&[("x", 2 + ROOM)]).is_empty());
        assert!(found(&[("x", 1)])[0].contains("2 production lines, 1 more than its budget"));
        assert!(found(&[("x", 3 + ROOM)])[0].contains("lower it"));
        assert!(found(&[])[0].contains("no budget"));
        assert!(found(&[("x", 2), ("gone", 500)])[0].contains("gone has 0"));
    }
}
