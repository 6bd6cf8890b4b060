//! What a reader must know about the steadiness of cells before believing small differences.

use super::{CellSteadiness, Steadiness, warmup_is_too_short};
use crate::cells::CellResult;
use crate::findings::{Finding, What};

/// Halves of a short window differ by less than this factor if nothing changes in between.
const HALVES_RATIO_MAX: f64 = 1.25;

pub fn all<'a>(cells: impl Iterator<Item = &'a CellResult>) -> Vec<Finding> {
    let findings = cells.flat_map(|cell| {
        let found = of_cell(&cell.steadiness).into_iter().flatten();
        found.map(|what| Finding::new(what).of(&cell.contender).at(&cell.coordinates)).collect::<Vec<_>>()
    });
    findings.collect()
}

fn of_cell(cell: &CellSteadiness) -> [Option<What>; 4] {
    [no_steady_state(cell), unlike_halves(cell), late(cell), checkpoints(cell)]
}

fn no_steady_state(cell: &CellSteadiness) -> Option<What> {
    let of = cell.trials;
    match (&cell.verdict, &cell.drift) {
        (Steadiness::Drifting, Some(drift)) => {
            Some(What::NotSteady { drift: drift.clone(), drifting: cell.drifting, of })
        }
        (Steadiness::Unsettled, _) => Some(What::NotSettled { unsettled: cell.unsettled, of }),
        _ => None,
    }
}

/// For windows too short to show a drift: a difference that nobody can overlook.
fn unlike_halves(cell: &CellSteadiness) -> Option<What> {
    let second_half = cell.second_half.filter(|_| cell.drift.is_none())?;
    let is_alike = (1.0 / HALVES_RATIO_MAX..=HALVES_RATIO_MAX).contains(&second_half);
    (!is_alike).then_some(What::HalvesUnlike { second_half })
}

fn late(cell: &CellSteadiness) -> Option<What> {
    let change = cell.change.filter(|_| warmup_is_too_short(cell))?;
    Some(What::WarmUpTooShort { late: cell.settled_late, of: cell.trials, change })
}

fn checkpoints(cell: &CellSteadiness) -> Option<What> {
    // A whole cycle is from a checkpoint to the next.
    let (fewest, _) = cell.checkpoints_begun?;
    (fewest < 2).then_some(What::WindowTooShort)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::analyse;
    use record::looks::Reading;
    use record::run::Run;
    use record::synthetic;

    fn is_told(run: &Run) -> bool {
        analyse(run).findings.iter().any(|finding| finding.what == What::WindowTooShort)
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
        assert_eq!([0, 1, 2].map(|begun| is_told(&with_checkpoints(begun))), [true, true, false]);
        assert!(!is_told(&synthetic::run(3)), "nobody counted");
    }

    #[test]
    fn halves_of_a_short_window_that_are_unlike_are_told() {
        let told = |second_half| {
            unlike_halves(&CellSteadiness { second_half: Some(second_half), ..crate::steadiness::of_cell(&[]) })
        };
        assert_eq!(told(0.52), Some(What::HalvesUnlike { second_half: 0.52 }));
        assert!(told(1.3).is_some() && told(0.85).is_none() && told(1.2).is_none());
    }
}
