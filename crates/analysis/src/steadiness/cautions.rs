//! What a reader must know about the steadiness of cells before believing small differences.

use super::{CellSteadiness, Steadiness, warmup_is_too_short};
use crate::cells::CellResult;
use crate::estimate::Estimate;
use crate::warnings::{Warning, caution};

pub fn all<'a>(cells: impl Iterator<Item = &'a CellResult>) -> Vec<Warning> {
    let sentences = cells.flat_map(|cell| {
        let place = if cell.coordinates.is_empty() { String::new() } else { format!(" at {}", cell.coordinates) };
        let who = format!("{}{place}", cell.contender);
        [no_steady_state(&who, &cell.steadiness), late(&who, &cell.steadiness), checkpoints(&who, &cell.steadiness)]
    });
    sentences.flatten().map(caution).collect()
}

fn no_steady_state(who: &str, cell: &CellSteadiness) -> Option<String> {
    match (&cell.verdict, &cell.drift) {
        (Steadiness::Drifting, Some(drift)) => Some(format!(
            "{who} was in no steady state: its throughput {} over the measured window ({} of {} trials drift). Warm up or measure \
             longer",
            course(drift),
            cell.drifting,
            cell.trials
        )),
        (Steadiness::Unsettled, _) => Some(format!(
            "{who} was in no steady state: in {} of {} trials MSER-5 finds no end of warming up within the first half. Warm up \
             or measure longer",
            cell.unsettled, cell.trials
        )),
        _ => None,
    }
}

/// "fell by 8.1 % (95 % interval 5.0 to 11.2 %)".
pub fn course(drift: &Estimate) -> String {
    let word = if drift.point < 0.0 { "fell" } else { "rose" };
    let percent = |share: f64| share * drift.point.signum() * 100.0;
    let interval = drift.bounds.known().map(|(low, high)| {
        let (one, other) = (percent(low), percent(high));
        format!(" (95 % interval {:.1} to {:.1} %)", one.min(other), one.max(other))
    });
    format!("{word} by {:.1} %{}", percent(drift.point), interval.unwrap_or_default())
}

fn late(who: &str, cell: &CellSteadiness) -> Option<String> {
    let change = cell.change.filter(|_| warmup_is_too_short(cell))?;
    let (late, trials, word) = (cell.settled_late, cell.trials, if change < 0.0 { "lower" } else { "higher" });
    Some(format!(
        "the warm-up of {who} is too short: in {late} of {trials} trials MSER-5 would begin later than the measured window, and \
         throughput would be {:.1} % {word} on average",
        change.abs() * 100.0
    ))
}

fn checkpoints(who: &str, cell: &CellSteadiness) -> Option<String> {
    let (fewest, _) = cell.whole_cycles?;
    (fewest == 0).then(|| {
        format!(
            "a measured window of {who} covers no whole cycle from one checkpoint to the next: what checkpoints cost is in its figure by \
             chance. Measure longer, or let them come more often"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::analyse;
    use record::looks::Reading;
    use record::run::Run;
    use record::synthetic;

    fn texts(run: &Run) -> Vec<String> {
        analyse(run).warnings.into_iter().map(|warning| warning.text).collect()
    }

    fn with_checkpoints(begun: u64) -> Run {
        let mut run = synthetic::run(3);
        for looks in run.trials.iter_mut().filter_map(|trial| trial.looks.as_mut()) {
            for (look, count) in [(&mut looks.start, 5), (&mut looks.end, 5 + begun)] {
                let Reading::Known(counts) = &mut look.database else { continue };
                counts.checkpoints = Some(count);
            }
        }
        run
    }

    #[test]
    fn windows_without_a_whole_checkpoint_cycle_are_told() {
        let told = |begun: u64| texts(&with_checkpoints(begun)).iter().any(|text| text.contains("no whole cycle"));
        assert_eq!([0, 1, 2].map(told), [true, true, false]);
        assert!(!texts(&synthetic::run(3)).iter().any(|text| text.contains("no whole cycle")), "nobody counted");
    }

    #[test]
    fn a_drift_is_told_with_its_direction() {
        let bounds = crate::estimate::Bounds::Known { low: -0.112, high: -0.05 };
        let mut drift = Estimate { point: -0.081, bounds, method: String::new() };
        assert_eq!(course(&drift), "fell by 8.1 % (95 % interval 5.0 to 11.2 %)");
        drift.point = 0.081;
        drift.bounds = crate::estimate::Bounds::Unknown { why: String::new() };
        assert_eq!(course(&drift), "rose by 8.1 %");
    }
}
