//! Two runs of a study side by side, as text for a terminal or the log of a continuous integration.

use crate::document::{Cell, Column, Table};
use crate::measures::{self, estimate};
use crate::terminal::{table, wrapped};
use crate::{format, terminal};
use analysis::compare::Verdict;
use analysis::measures::throughput::THROUGHPUT;
use analysis::two_runs::{CellPair, Figure, Gate, MOST_BLOCKS, Regression, Side, TwoRuns};
use analysis::warnings::Severity;
use record::text::visible;
use std::fmt::Write as _;

/// Plain text without colours; it ends with a line break. Every warning is told, before any number.
pub fn text(two: &TwoRuns) -> String {
    let mut text = format!("old: {}\nnew: {}\n", side(&two.old), side(&two.new));
    for warning in &two.warnings {
        let word = if warning.severity == Severity::Serious { "WARNING: " } else { "caution: " };
        text.push_str(&wrapped(&format!("{word}{}", terminal::first_line(&warning.text)), "  "));
    }
    for cell in &two.cells {
        let place = if cell.coordinates.is_empty() { String::new() } else { format!(", {}", cell.coordinates) };
        let _ = writeln!(text, "\n{}", visible(&format!("{}{place}", cell.contender)));
        text.push_str(&of_cell(cell));
    }
    text.push('\n');
    for (which, cells) in [("old", &two.only_old), ("new", &two.only_new)] {
        if !cells.is_empty() {
            text.push_str(&wrapped(&format!("only in the {which} run: {}", cells.join("; ")), "  "));
        }
    }
    text.push_str(&wrapped(
        "new/old: above 1, throughput is faster and response time slower. Trials of two runs are not paired: intervals are 95 %, \
         by Student's t on logarithms for each run and by Welch's for the ratio.",
        "",
    ));
    text.push_str(&wrapped(&conclusion(two), ""));
    text
}

fn side(side: &Side) -> String {
    let Side { folder, study, seed, blocks } = side;
    let plural = if *blocks == 1 { "" } else { "s" };
    visible(&format!("{folder} (study {study}, {blocks} block{plural}, seed {seed})")).into_owned()
}

fn of_cell(cell: &CellPair) -> String {
    let mut text = String::new();
    for (which, wrong) in [("old", cell.old_wrong_data), ("new", cell.new_wrong_data)] {
        if wrong {
            let _ = writeln!(text, "WRONG DATA in the {which} run: no verdict");
        }
    }
    if cell.figures.is_empty() {
        let (old, new) = (cell.old_trials, cell.new_trials);
        let _ = writeln!(text, "nothing to compare: {old} trials of the old run and {new} of the new one count");
        return text;
    }
    let trials = |count: u32| if count == 1 { "1 trial".to_owned() } else { format!("{count} trials") };
    let columns = vec![
        Column::text(""),
        Column::number(format!("old, {}", trials(cell.old_trials))),
        Column::number(format!("new, {}", trials(cell.new_trials))),
        Column::number("new/old"),
        Column::number("verdict"),
    ];
    let judged = cell.figures.iter().filter(|figure| figure.judged);
    let rows = judged.map(|figure| row(cell, figure)).collect();
    text.push_str(&table(&Table { caption: String::new(), columns, rows }));
    for missing in &cell.missing {
        let name = measures::words(&missing.measure).0;
        text.push_str(&wrapped(&format!("not compared: {name}, because {}", missing.why), "  "));
    }
    text
}

fn row(cell: &CellPair, figure: &Figure) -> Vec<Cell> {
    let measure = &figure.measure;
    let name = if measure.id == THROUGHPUT { cell.metric.name.clone() } else { measures::named(measure).label };
    let number = |value: f64| measures::number(&measure.unit, value);
    vec![
        Cell::new(name),
        estimate(Some(&figure.old), number),
        estimate(Some(&figure.new), number),
        estimate(Some(&figure.change.estimate), format::ratio),
        Cell::new(verdict(figure)),
    ]
}

fn verdict(figure: &Figure) -> String {
    let change = match figure.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided => "no difference shown",
        Verdict::TooFewTrials | Verdict::NothingToCompare => "too few trials",
        Verdict::WrongData => "wrong data",
    };
    match figure.regression {
        Regression::Found => format!("{change}: REGRESSION"),
        Regression::NotShown => format!("{change}, regression not ruled out"),
        Regression::NotAsked | Regression::RuledOut | Regression::Unknown => change.to_owned(),
    }
}

fn conclusion(two: &TwoRuns) -> String {
    let Some(threshold) = two.threshold else {
        return match two.gate() {
            Gate::WrongData => "The new run left wrong data behind.".to_owned(),
            Gate::Open | Gate::Regressed | Gate::NotRuledOut | Gate::Untold => {
                "No threshold was given, so no regression was looked for.".to_owned()
            }
        };
    };
    let figures = || two.cells.iter().flat_map(|cell| &cell.figures).filter(|figure| figure.judged);
    let count = |wanted: Regression| figures().filter(|figure| figure.regression == wanted).count();
    let missing = two.cells.iter().map(|cell| cell.missing.len()).sum::<usize>();
    let (found, open) = (count(Regression::Found), count(Regression::NotShown) + missing);
    let all = figures().count() + missing;
    let percent = format::percent(threshold);
    match two.gate() {
        Gate::WrongData => "The new run left wrong data behind: how fast it was says nothing.".to_owned(),
        Gate::Regressed => format!("REGRESSION: {found} of {all} figures became slower by more than {percent}."),
        Gate::Untold => format!(
            "INCONCLUSIVE: no regression above {percent} was found, but not everything could be compared (see above)."
        ),
        Gate::Open => format!("No figure became slower by more than {percent}."),
        Gate::NotRuledOut => format!(
            "INCONCLUSIVE: no regression above {percent} was found, but for {open} of {all} figures it is not ruled out. {}",
            advice(figures().filter_map(|figure| figure.blocks_needed).max(), missing),
        ),
    }
}

/// What would decide all figures.
fn advice(blocks: Option<u32>, missing: usize) -> String {
    let blocks = blocks.map(|blocks| {
        if blocks < MOST_BLOCKS {
            format!("About {blocks} blocks in each run would decide those that were compared.")
        } else {
            "At least one lies so near the threshold that more blocks will not decide it; allow more, or measure on a quieter host."
                .to_owned()
        }
    });
    let missing = (missing > 0).then(|| "Longer windows would give the percentiles that are missing.".to_owned());
    blocks.into_iter().chain(missing).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::two_runs::compare;
    use record::synthetic;

    #[test]
    fn everything_is_told_and_warnings_come_first() {
        let old = synthetic::run(5);
        let mut new = synthetic::run(4);
        new.plan.seed = 3;
        new.plan.cells.truncate(1);
        for trial in &mut new.trials {
            trial.record.driver.as_mut().unwrap().kinds[0].committed /= 2;
        }
        let two = compare(&old, &new, Some(0.03)).unwrap();
        insta::assert_snapshot!(text(&two), @r#"
        old: runs/2026-11-21T12-00-00-quickstart (study quickstart, 5 blocks, seed 20261121)
        new: runs/2026-11-21T12-00-00-quickstart (study quickstart, 4 blocks, seed 3)
        WARNING: the seeds differ: it was 20261121 and is 3, so clients did not ask for the same
        WARNING: the figures of work of native differ: bytes of redo per transaction were 12017 and are
          15436

        native
                                    old, 5 trials           new, 4 trials                 new/old                                        verdict
        ─────────────────  ──────────────────────  ──────────────────────  ──────────────────────  ─────────────────────────────────────────────
        NOPM               5,249 (5,114 to 5,387)  2,665 (2,583 to 2,748)  0.508 (0.492 to 0.524)                             slower: REGRESSION
        new-order p50, ms     2.53 (2.50 to 2.57)     2.53 (2.49 to 2.56)  0.997 (0.983 to 1.012)                            no difference shown
        new-order p95, ms     5.37 (5.22 to 5.51)     5.37 (5.17 to 5.59)  1.002 (0.964 to 1.041)  no difference shown, regression not ruled out
        new-order p99, ms     7.54 (7.25 to 7.84)     7.47 (7.16 to 7.80)  0.991 (0.946 to 1.037)  no difference shown, regression not ruled out

        only in the old run: kvm
        new/old: above 1, throughput is faster and response time slower. Trials of two runs are not paired:
        intervals are 95 %, by Student's t on logarithms for each run and by Welch's for the ratio.
        REGRESSION: 1 of 4 figures became slower by more than 3 %.
        "#);
    }

    #[test]
    fn what_cannot_be_compared_says_so() {
        let mut old = synthetic::run(3);
        old.trials.clear();
        let told = text(&compare(&old, &synthetic::run(3), Some(0.03)).unwrap());
        assert!(told.contains("nothing to compare: 0 trials of the old run and 3 of the new one count"), "{told}");
        assert!(told.contains("INCONCLUSIVE: no regression above 3 % was found, but not everything"), "{told}");
        let same = synthetic::run(5);
        let told = text(&compare(&same, &same, None).unwrap());
        assert!(told.ends_with("No threshold was given, so no regression was looked for.\n"), "{told}");
    }
}
