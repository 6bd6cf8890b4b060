//! What a reader must know about the steadiness of cells before believing small differences.

use super::{CellSteadiness, Steadiness, warmup_is_too_short};
use crate::cells::CellResult;
use crate::estimate::Estimate;
use crate::warnings::{Warning, caution};

/// Halves of a short window differ by less than this factor where nothing changes in between.
const HALVES_RATIO_MAX: f64 = 1.25;

pub fn all<'a>(cells: impl Iterator<Item = &'a CellResult>) -> Vec<Warning> {
    let sentences = cells.flat_map(|cell| {
        let place = if cell.coordinates.is_empty() { String::new() } else { format!(" at {}", cell.coordinates) };
        let who = format!("{}{place}", cell.contender);
        let cell = &cell.steadiness;
        [no_steady_state(&who, cell), unlike_halves(&who, cell), late(&who, cell), checkpoints(&who, cell)]
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

/// Of windows that are too short to tell a drift, what nobody can overlook.
fn unlike_halves(who: &str, cell: &CellSteadiness) -> Option<String> {
    let share = cell.second_half.filter(|_| cell.drift.is_none())?;
    let is_alike = (1.0 / HALVES_RATIO_MAX..=HALVES_RATIO_MAX).contains(&share);
    (!is_alike).then(|| {
        format!(
            "{who} did {:.0} % of the first half's throughput in the second half of its window: something changed in between",
            share * 100.0
        )
    })
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
    fn halves_of_a_short_window_that_are_unlike_are_told() {
        let told = |second_half| {
            let cell = CellSteadiness { second_half: Some(second_half), ..crate::steadiness::of_cell(&[]) };
            unlike_halves("native", &cell)
        };
        let expected = "native did 52 % of the first half's throughput in the second half of its window: something changed in between";
        assert_eq!(told(0.52).unwrap(), expected);
        assert!(told(1.3).is_some() && told(0.85).is_none() && told(1.2).is_none());
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
