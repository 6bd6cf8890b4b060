//! Can it be trusted? All findings, the worst first, and what was checked and is fine.

use super::heading;
use crate::document::Block;
use crate::{findings, format};
use analysis::consistency::equal_work::OF_STATEMENTS;
use analysis::findings::Finding;
use analysis::measures::work::STATEMENTS;
use analysis::steadiness::Steadiness;
use analysis::summary::Analysis;
use record::trial::RunDelay;
use std::collections::BTreeSet;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    vec![
        heading("Can I trust it?"),
        Block::Trust { found: findings::lines(&analysis.findings), passed: passed(analysis) },
    ]
}

/// Every finding in words, where a line above stands for several.
pub fn details(analysis: &Analysis) -> Vec<Block> {
    let in_words = |finding: &Finding| {
        let warning = findings::warning(finding);
        format!("{}. {}", warning.text.trim_end_matches('.'), warning.end(str::to_owned).replace('`', ""))
    };
    let found: Vec<String> = analysis.findings.iter().map(in_words).collect();
    if found.len() == findings::lines(&analysis.findings).len() {
        return Vec::new();
    }
    vec![heading("All findings"), Block::List(found)]
}

/// Only what was checked is called fine.
pub fn passed(analysis: &Analysis) -> Vec<String> {
    [checks(analysis), same_data(analysis), same_work(analysis), steady(analysis), driver(analysis), timing(analysis)]
        .into_iter()
        .flatten()
        .collect()
}

fn checks(analysis: &Analysis) -> Option<String> {
    let counts = analysis.check_counts;
    let judged = u64::from(counts.held);
    let undecided = match counts.undecided {
        0 => String::new(),
        many => format!(" {} could not be judged.", format::count(many.into())),
    };
    let sound = counts.violated == 0 && counts.unchecked_trials == 0 && judged > 0 && counted(analysis) > 0;
    sound.then(|| format!("The data is correct: {} checks passed.{undecided}", format::count(judged)))
}

fn counted(analysis: &Analysis) -> u32 {
    analysis.cells.iter().map(|cell| cell.outcomes.completed).sum()
}

fn same_data(analysis: &Analysis) -> Option<String> {
    let loaded = &analysis.consistency.loaded_data;
    let tables = loaded.iter().map(|data| data.tables).max().filter(|tables| *tables > 0)?;
    let same = loaded.iter().all(|data| data.differing.is_empty());
    same.then(|| {
        format!(
            "All contenders began with the same data: equal checksums of {}.",
            format::counted(tables.into(), "table")
        )
    })
}

fn same_work(analysis: &Analysis) -> Option<String> {
    let statements = analysis.comparisons.iter().filter_map(|one| one.contrast(STATEMENTS));
    let apart = statements.map(|change| (change.estimate.point - 1.0).abs()).reduce(f64::max)?;
    // Few transactions that differ may do so by chance, which shows neither that they are equal nor that they are not.
    let equal = analysis.consistency.unequal_work.is_empty() && apart <= OF_STATEMENTS;
    let apart = format::share(apart, 1);
    equal.then(|| format!("A transaction cost the same work on all sides: statements differ by at most {apart}."))
}

fn steady(analysis: &Analysis) -> Option<String> {
    let steady = |cell: &analysis::cells::CellResult| matches!(cell.steadiness.verdict, Steadiness::Steady);
    let all = !analysis.cells.is_empty() && analysis.cells.iter().all(steady);
    all.then(|| "Throughput was steady over the measured windows.".to_owned())
}

/// A thread of the load engine that is busy for a larger share of the time may limit throughput.
const BUSY: f64 = 0.8;

/// A thread that waited for a CPU for a larger share of the time may have held back the database.
const WAITED: f64 = 0.25;

fn driver(analysis: &Analysis) -> Option<String> {
    let drivers = || analysis.cells.iter().filter_map(|cell| cell.driver.as_ref());
    let busiest = drivers().map(|driver| driver.busiest_shard).reduce(f64::max).filter(|busy| *busy < BUSY)?;
    let waited = RunDelay::longest(drivers().map(|driver| driver.run_delay))?.share;
    if waited > WAITED {
        return None;
    }
    let is_free = drivers().all(|driver| driver.throttled == Some(0.0));
    let limit = if is_free { "; no CPU limit but the study's held it back" } else { "" };
    let [busiest, waited] = [busiest, waited].map(|share| share * 100.0);
    Some(format!(
        "The load engine was not the limit: its busiest thread worked {busiest:.0} % of the time, and none waited longer than \
         {waited:.0} % for a CPU{limit}."
    ))
}

fn timing(analysis: &Analysis) -> Option<String> {
    let accounted = &analysis.consistency.littles_law;
    let holds = !accounted.is_empty() && accounted.iter().all(|one| one.holds);
    let trials: BTreeSet<u32> = accounted.iter().map(|one| one.trial).collect();
    let trials = format::counted(trials.len() as u64, "trial");
    holds.then(|| {
        format!("Timing is consistent: response times and pauses add up to the number of clients in {trials} (Little's law).")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_called_the_same_only_if_it_is() {
        let told = |statements: f64| {
            let run = record::synthetic::run(3);
            let mut analysis = analysis::summary::analyse(&run);
            let contrasts = analysis.comparisons.iter_mut().flat_map(|one| &mut one.contrasts);
            for contrast in contrasts.filter(|contrast| contrast.measure == STATEMENTS) {
                contrast.estimate.point = statements;
            }
            assert!(analysis.consistency.unequal_work.is_empty());
            same_work(&analysis)
        };
        assert!(told(1.01).is_some_and(|text| text.ends_with("differ by at most 1.0 %.")));
        assert_eq!(told(2.86), None);
    }

    #[test]
    fn a_load_engine_is_acquitted_only_of_what_was_measured() {
        let told = |share: Option<f64>, throttled_ms: Option<u64>| {
            let mut run = record::synthetic::run(3);
            for driver in run.trials.iter_mut().filter_map(|trial| trial.record.driver.as_mut()) {
                let delay = |share| RunDelay { share, us_per_turn: 3.0, beside_database: Some(true) };
                driver.testimony.run_delay = share.map(delay);
                driver.testimony.stalls.throttled_ms = throttled_ms;
            }
            driver(&analysis::summary::analyse(&run))
        };
        assert!(
            told(Some(0.2), Some(0)).unwrap().ends_with("20 % for a CPU; no CPU limit but the study's held it back.")
        );
        assert!(told(Some(0.2), Some(1)).unwrap().ends_with("20 % for a CPU."));
        assert!(told(Some(0.2), None).unwrap().ends_with("20 % for a CPU."));
        assert_eq!((told(Some(0.4), Some(0)), told(None, Some(0))), (None, None));
    }
}
