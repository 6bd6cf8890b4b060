//! Can it be trusted? All findings, the worst first, and what was checked and is fine.

use super::heading;
use crate::document::Block;
use crate::{findings, format};
use analysis::steadiness::Steadiness;
use analysis::summary::Analysis;
use record::trial::RunDelay;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    vec![
        heading("Can I trust it?"),
        Block::Trust { found: findings::warnings(&analysis.findings), passed: passed(analysis) },
    ]
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
        format!("All began with the same data: the checksums of {} are equal.", format::counted(tables.into(), "table"))
    })
}

fn same_work(analysis: &Analysis) -> Option<String> {
    let compared = analysis.comparisons.iter().any(|one| one.throughput().is_some());
    let equal = analysis.consistency.unequal_work.is_empty();
    let known = analysis.observations.measure(analysis::measures::work::STATEMENTS).is_some();
    (compared && equal && known).then(|| "A transaction cost the same work on all sides.".to_owned())
}

fn steady(analysis: &Analysis) -> Option<String> {
    let steady = |cell: &analysis::cells::CellResult| matches!(cell.steadiness.verdict, Steadiness::Steady);
    let all = !analysis.cells.is_empty() && analysis.cells.iter().all(steady);
    all.then(|| "Throughput was steady over the measured windows.".to_owned())
}

/// A thread of the load engine that is busy for a larger share of the time may limit throughput.
const BUSY: f64 = 0.8;

fn driver(analysis: &Analysis) -> Option<String> {
    let drivers = || analysis.cells.iter().filter_map(|cell| cell.driver.as_ref());
    let busiest = drivers().map(|driver| driver.busiest_shard).reduce(f64::max).filter(|busy| *busy < BUSY)?;
    let waited = RunDelay::longest(drivers().map(|driver| driver.run_delay))?.share;
    let is_known = drivers().all(|driver| driver.throttled.is_some());
    let limit = if is_known { "; no CPU limit held it back" } else { "" };
    let [busiest, waited] = [busiest, waited].map(|share| share * 100.0);
    Some(format!(
        "The load engine was not the limit: its busiest thread worked {busiest:.0} % of the time, and none waited longer than \
         {waited:.0} % for a CPU{limit}."
    ))
}

fn timing(analysis: &Analysis) -> Option<String> {
    let accounted = &analysis.consistency.littles_law;
    let holds = !accounted.is_empty() && accounted.iter().all(|one| one.holds);
    holds.then(|| "Response times add up to the number of clients (Little's law).".to_owned())
}
