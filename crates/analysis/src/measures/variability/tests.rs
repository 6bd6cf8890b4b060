//! Single seconds compared with numpy, and whole runs compared with what was put into them.

use super::*;
use crate::estimate::Bounds;
use crate::missing::Missing;
use crate::observations::Observations;
use crate::pairing::Pairing;
use proptest::prelude::*;
use record::intervals::KindInterval;
use record::run::Run;
use record::synthetic;

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "found {found}, expected {expected}");
}

/// `x = [120, 80, 0, 0, 40, 100, 110, 95, 0, 105]`; `numpy.median(x)` is 87.5, `numpy.std(x, ddof=1) / numpy.mean(x)`
/// is 0.765804 (numpy 2.4.6); three seconds in a row are below 43.75, and one later.
#[test]
fn single_seconds_are_read_as_numpy_does() {
    let seconds = [120.0, 80.0, 0.0, 0.0, 40.0, 100.0, 110.0, 95.0, 0.0, 105.0];
    let middle = median(&seconds).unwrap();
    close(middle, 87.5);
    close(student::variation(&seconds).unwrap(), VARIATION);
    assert_eq!(longest_run(&seconds, |rate| rate < middle * LOW), 3);
    assert_eq!((median(&[]), student::variation(&[0.0, 0.0]), median(&[3.0, 1.0, 2.0])), (None, None, Some(2.0)));
}

const VARIATION: f64 = 0.765_804_334_516_311_8;

/// Replaces the measured seconds of a trial by these counts of new orders, each of 1 ms.
fn set_seconds(trial: &mut StoredTrial, counts: impl Fn(usize) -> u32) {
    let measured = trial.measured.as_mut().expect("made-up trials are measured");
    let like = measured.intervals.iter().find(|interval| interval.measured).expect("a measured second").clone();
    measured.intervals = (0..SECONDS)
        .map(|second| {
            let mut interval = like.clone();
            interval.start_ms = second as u64 * 1_000;
            let counts = Some((1_000, counts(second))).filter(|(_, count)| *count > 0).into_iter().collect();
            interval.kinds = vec![KindInterval { kind: 0, span: Span::Response, counts }];
            interval
        })
        .collect();
}

const SECONDS: usize = 240;

/// An even baseline, and a contender that stands still for two seconds every thirty, a little later in every block.
fn stopping(blocks: u32) -> Run {
    let mut run = synthetic::run(blocks);
    for trial in &mut run.trials {
        let block = trial.record.block as usize;
        let wobble =
            move |second: usize| u32::try_from((second * second * 7 + second * 31 * block) % 1_009 / 44).unwrap_or(0);
        let stops = trial.record.cell == 1;
        set_seconds(trial, |second| if stops && (second + 7 * block) % 30 < 2 { 0 } else { 100 + wobble(second) });
    }
    run
}

fn observed(run: &Run) -> Observations {
    Observations::of_run(run, &[readings])
}

fn point(observations: &Observations, measure: &str, cell: u32) -> f64 {
    observations.level(measure, cell).unwrap_or_else(|| panic!("no {measure}")).estimate.point
}

#[test]
fn a_contender_that_stops_every_thirty_seconds_is_seen_to() {
    let run = stopping(5);
    let (found, pairing) = (observed(&run), Pairing::of(&run, &run.plan.cells[0], &run.plan.cells[1]));
    close(point(&found, ZERO_SECONDS, 1), 16.0);
    close(point(&found, LONGEST_LOW, 1), 2.0);
    let against = |measure: &str| found.measure(measure).unwrap().paired(&pairing).unwrap();
    close(against(ZERO_SECONDS).estimate.point, 16.0);
    let times = against(CV);
    assert_eq!(times.scale, Scale::Ratio);
    assert!(times.estimate.bounds.known().unwrap().0 > 3.0, "{times:?}");
    assert!((point(&found, CYCLE, 1) - 30.0).abs() < 0.5);
    assert_eq!(found.level(CYCLE, 0), None, "the baseline has none");
    close(point(&found, &band(0.01), 1), 0.0);
    assert!(against(&band(0.05)).estimate.bounds.known().unwrap().1 < -0.5);
}

#[test]
fn what_was_never_seen_has_no_interval_that_says_it_cannot_be() {
    let run = stopping(5);
    let (found, pairing) = (observed(&run), Pairing::of(&run, &run.plan.cells[0], &run.plan.cells[1]));
    let zero = found.level(ZERO_SECONDS, 0).unwrap().estimate;
    assert_eq!((zero.point, &zero.bounds), (0.0, &Bounds::Unknown { why: Missing::NeverSeen }));
    let slow = found.measure(SLOW).unwrap().paired(&pairing).unwrap();
    assert_eq!(slow.estimate.bounds.known(), None);
    let two = observed(&stopping(2));
    assert!(two.measures().filter_map(|one| one.level(1)).all(|level| level.estimate.bounds.known().is_none()));
}

/// Three of a trial's transactions took two seconds; one took exactly one.
#[test]
fn slow_transactions_are_counted_from_the_histograms() {
    let mut run = stopping(3);
    let before = slow(&run.trials[0]);
    let intervals = &mut run.trials[0].measured.as_mut().unwrap().intervals;
    intervals[5].kinds[0].counts.extend([(1_000_000, 1), (2_000_895, 3)]);
    assert_eq!(slow(&run.trials[0]), (before.0 + 4, before.1 + 3));
    close(point(&observed(&run), SLOW, run.trials[0].record.cell), 1.0);
}

#[test]
fn against_itself_nothing_differs() {
    let mut run = stopping(4);
    let copies: Vec<StoredTrial> = run.trials.iter().filter(|trial| trial.record.cell == 0).cloned().collect();
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
        let like = copies.iter().find(|copy| copy.record.block == trial.record.block).unwrap();
        trial.measured.clone_from(&like.measured);
    }
    let (found, pairing) = (observed(&run), Pairing::of(&run, &run.plan.cells[0], &run.plan.cells[1]));
    for measured in found.measures() {
        let Some(contrast) = measured.paired(&pairing) else { continue };
        close(contrast.estimate.point, contrast.neutral());
        assert_ne!(contrast.estimate.bounds.contain(contrast.neutral()), Some(false));
    }
}

#[test]
fn a_run_without_measured_seconds_has_no_figures() {
    let mut run = stopping(3);
    run.trials.iter_mut().for_each(|trial| trial.measured = None);
    assert_eq!(observed(&run).measures().count(), 0);
}

proptest! {
    #[test]
    fn neither_unit_nor_speed_matters(seconds in proptest::collection::vec(0.0..1_000.0_f64, 3..80), times in 0.01..100.0_f64) {
        let faster: Vec<f64> = seconds.iter().map(|rate| rate * times).collect();
        let (one, other) = (student::variation(&seconds), student::variation(&faster));
        prop_assert_eq!(one.is_some(), other.is_some());
        if let (Some(one), Some(other)) = (one, other) {
            prop_assert!((one - other).abs() < 1e-9);
        }
        prop_assert!((median(&faster).unwrap() - times * median(&seconds).unwrap()).abs() < 1e-6);
    }
}
