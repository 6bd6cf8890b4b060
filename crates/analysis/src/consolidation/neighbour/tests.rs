//! A made-up study of three machines whose third comes and goes, and handmade seconds with ratios computed elsewhere.

use super::*;
use crate::consolidation::tests::all_of;
use crate::consolidation::{Consolidation, findings};
use crate::contrast::Position;
use crate::findings::{Severity, What};
use crate::missing::Missing;
use crate::steadiness::Steadiness;
use record::intervals::{KindInterval, Span};
use record::run::StoredTrial;
use record::synthetic::neighbour::{self, KEPT, NEIGHBOUR};
use std::sync::LazyLock;

/// Made only once, since that takes longer than the tests that use it.
static MADE_UP: LazyLock<Run> = LazyLock::new(|| neighbour::run(4, &["burst", "stops", "starts", "idle", "same"]));

fn found(run: &Run, contender: &str, load: &str) -> Consolidation {
    all_of(run).into_iter().find(|one| one.contender == contender && one.coordinates == load).unwrap()
}

fn beside(run: &Run, load: &str) -> Neighbour {
    found(run, "kvm", load).neighbour.unwrap()
}

fn of(neighbour: &Neighbour, of: Of) -> &NeighbourEffect {
    neighbour.effects.iter().find(|effect| effect.of == of).unwrap()
}

#[track_caller]
fn close(found: Option<&Estimate>, expected: f64, within: f64) {
    let found = found.unwrap().point;
    assert!((found - expected).abs() <= within, "found {found}, expected {expected}");
}

fn seconds(neighbour: &Neighbour) -> Vec<Vec<(NeighbourPart, usize)>> {
    let of_trial = |trial: &TrialParts| trial.parts.iter().map(|part| (part.part, part.seconds)).collect();
    neighbour.trials.iter().map(of_trial).collect()
}

#[test]
fn a_burst_has_a_before_and_an_after_without_the_seconds_beside_its_ends() {
    let burst = beside(&MADE_UP, "burst");
    assert_eq!((burst.machine, burst.others, burst.load), (NEIGHBOUR, 2, ExceptionLoad::Burst));
    assert_eq!(
        seconds(&burst),
        vec![vec![(NeighbourPart::Before, 7), (NeighbourPart::During, 6), (NeighbourPart::After, 7)]; 4]
    );
    // Its work begins 3 ms after the first window of the others.
    let work = burst.work.unwrap();
    assert!((work.from_s.unwrap() - 8.003).abs() < 1e-3 && (work.to_s.unwrap() - 16.003).abs() < 1e-3, "{work:?}");
    let mean = of(&burst, Of::Mean);
    for ratio in [&mean.during_over_before, &mean.during_over_after, &mean.during_over_both] {
        close(ratio.as_ref(), KEPT[1], 0.02);
    }
    close(mean.after_over_before.as_ref(), 1.0, 0.04);
    close(of(&burst, Of::Least).during_over_both.as_ref(), KEPT[1], 0.03);
    // Made-up service times are longer by the same factor by which throughput is lower.
    close(of(&burst, Of::Median).during_over_both.as_ref(), 1.0 / KEPT[1], 0.06);
    assert_eq!((burst.kept, burst.recovered), (Position::Below, Position::Across));
    assert!(burst.trials.iter().all(|trial| trial.uncertain_ms < 0.1), "{burst:?}");
    let native = found(&MADE_UP, "native", "burst").neighbour.unwrap();
    close(of(&native, Of::Mean).during_over_both.as_ref(), KEPT[0], 0.02);
    assert_eq!(native.course.len(), 24);
}

#[test]
fn one_that_stops_or_starts_has_one_change() {
    let stops = beside(&MADE_UP, "stops");
    assert_eq!(seconds(&stops), vec![vec![(NeighbourPart::During, 11), (NeighbourPart::After, 11)]; 4]);
    let mean = of(&stops, Of::Mean);
    close(mean.during_over_after.as_ref(), KEPT[1], 0.02);
    assert_eq!((&mean.before, &mean.during_over_before, &mean.during_over_both), (&None, &None, &None));
    assert_eq!((stops.work.unwrap().from_s, stops.recovered), (None, Position::Unknown));
    let starts = beside(&MADE_UP, "starts");
    assert_eq!(seconds(&starts), vec![vec![(NeighbourPart::Before, 11), (NeighbourPart::During, 11)]; 4]);
    close(of(&starts, Of::Mean).during_over_before.as_ref(), KEPT[1], 0.02);
    assert_eq!((starts.work.unwrap().to_s, starts.kept), (None, Position::Below));
}

#[test]
fn an_idle_one_is_held_against_cells_in_which_it_works() {
    let idle = beside(&MADE_UP, "idle");
    assert_eq!((idle.effects.len(), idle.work, idle.kept, idle.trials.len()), (0, None, Position::Unknown, 0));
    assert_eq!(idle.beside.len(), 1, "not against those in which it comes and goes, nor against another contender's");
    let beside = &idle.beside[0];
    assert_eq!((beside.reference.coordinates.as_str(), beside.kept), ("same", Position::Below));
    let mean = beside.effects.iter().find(|effect| effect.of == Of::Mean).unwrap();
    close(mean.during_over_before.as_ref(), KEPT[1], 0.02);
    assert_eq!(mean.after, None);
    assert_eq!(found(&MADE_UP, "kvm", "same").neighbour, None, "nobody is set apart there");
    let mut run = MADE_UP.clone();
    run.trials.retain(|trial| trial.record.cell != beside.reference.cell);
    assert_eq!(super::tests::beside(&run, "idle").beside, []);
}

/// The trials of one cell.
fn each<'a>(run: &'a mut Run, load: &str) -> impl Iterator<Item = &'a mut StoredTrial> + use<'a> {
    let cell = run.plan.cells.iter().find(|cell| cell.contender == "kvm" && cell.coordinates() == load).unwrap().id;
    run.trials.iter_mut().filter(move |trial| trial.record.cell == cell)
}

/// Sets another machine's counted transactions in each second, from the beginning of the window on.
fn handmade(trial: &mut StoredTrial, machine: usize, counts: impl Fn(usize) -> u32) {
    let own = trial.machines[machine].measured.as_mut().unwrap();
    for (second, interval) in own.intervals.iter_mut().filter(|interval| interval.measured).enumerate() {
        let part = KindInterval { kind: 0, span: Span::Response, counts: vec![(1_000, counts(second))] };
        interval.kinds = vec![part];
    }
}

/// With `B`, `D`, `A` the means of both machines: `geometric_mean` of `D / ((B + A) / 2)`, and `exp` of the mean of its
/// logarithms ± `3.182446 * stdev / 2` (Python's `statistics`); the same for `A / B` and for the lesser machine of each part.
#[test]
fn ratios_are_those_of_another_program() {
    const ROWS: [[[u32; 3]; 2]; 4] = [
        [[100, 70, 98], [90, 60, 91]],
        [[104, 75, 100], [92, 66, 94]],
        [[97, 66, 99], [95, 64, 90]],
        [[101, 74, 102], [88, 63, 86]],
    ];
    let mut run = MADE_UP.clone();
    for (trial, row) in each(&mut run, "burst").zip(ROWS) {
        for (machine, parts) in row.into_iter().enumerate() {
            // Seconds beside a change have absurd values, which must not matter.
            handmade(trial, machine, |second| match second {
                0..7 => parts[0],
                9..15 => parts[1],
                17.. => parts[2],
                _ => 100_000,
            });
        }
    }
    let burst = beside(&run, "burst");
    let mean = of(&burst, Of::Mean);
    // 60 counted in a second are 3,600 per minute.
    close(mean.before.as_ref(), 5_751.941_110_640_276, 1e-6);
    close(mean.during_over_both.as_ref(), 0.704_277_892_634, 1e-9);
    let (low, high) = mean.during_over_both.as_ref().unwrap().bounds.known().unwrap();
    assert!((low - 0.667_708_376_073).abs() < 1e-6 && (high - 0.742_850_273_903).abs() < 1e-6, "{low} {high}");
    close(mean.after_over_before.as_ref(), 0.990_894_962_575, 1e-9);
    close(of(&burst, Of::Least).during_over_both.as_ref(), 0.696_796_240_904, 1e-9);
    close(of(&burst, Of::P99).during_over_both.as_ref(), 1.0, 0.0);
}

/// The record says that the neighbour worked two seconds later, by a clock that is 40 s ahead of the host's.
#[test]
fn what_was_recorded_counts_and_not_what_was_planned() {
    let mut run = MADE_UP.clone();
    for trial in each(&mut run, "burst") {
        let record = &mut trial.machines[NEIGHBOUR as usize - 1].record;
        let start = record.driver.as_mut().unwrap().window_start_ns.as_mut().unwrap();
        *start += 42_000_000_000;
        for reading in &mut record.machine.as_mut().unwrap().clock {
            reading.offset_ns += 40_000_000_000;
        }
    }
    let burst = beside(&run, "burst");
    assert_eq!(
        seconds(&burst),
        vec![vec![(NeighbourPart::Before, 9), (NeighbourPart::During, 6), (NeighbourPart::After, 5)]; 4]
    );
    assert!((burst.work.unwrap().from_s.unwrap() - 10.003).abs() < 1e-3);
}

/// A clock that moved by 1.2 s during the driving may have been anywhere in between.
#[test]
fn an_uncertain_clock_takes_more_seconds_away() {
    let mut run = MADE_UP.clone();
    for trial in each(&mut run, "burst") {
        let clock = &mut trial.machines[NEIGHBOUR as usize - 1].record.machine.as_mut().unwrap().clock;
        clock.last_mut().unwrap().offset_ns += 1_200_000_000;
    }
    let burst = beside(&run, "burst");
    assert!((burst.trials[0].uncertain_ms - 1_200.0).abs() < 1.0, "{:?}", burst.trials[0].uncertain_ms);
    assert_eq!(seconds(&burst)[0][0], (NeighbourPart::Before, 6));
}

#[test]
fn trials_that_do_not_tell_are_left_out_and_named() {
    let mut run = MADE_UP.clone();
    let mut numbers = Vec::new();
    for (place, trial) in each(&mut run, "burst").enumerate() {
        numbers.push(trial.record.id);
        let record = &mut trial.machines[NEIGHBOUR as usize - 1].record;
        match place {
            0 => record.driver.as_mut().unwrap().measured_ms = 3_000,
            1 => record.machine.as_mut().unwrap().clock.clear(),
            _ => {}
        }
    }
    let burst = beside(&run, "burst");
    assert_eq!(burst.trials.len(), 2);
    let expected = [
        Missing::PartTooShort { part: NeighbourPart::During, seconds: 1 }.of_trial(numbers[0]),
        Missing::ClocksNotCompared.of_machine(3).of_trial(numbers[1]),
    ];
    assert_eq!(burst.left_out, expected);
    assert_eq!((burst.kept, burst.recovered), (Position::Unknown, Position::Unknown), "two blocks have no interval");
    close(of(&burst, Of::Mean).during_over_both.as_ref(), KEPT[1], 0.03);
    let told = findings(&[found(&run, "kvm", "burst")]);
    let about = told.iter().find(|found| matches!(&found.what, What::TrialsLeftOut { beside: Some(3), .. }));
    assert_eq!(about.map(|found| found.severity), Some(Severity::Serious), "{told:#?}");
}

/// Zero is not a small number: a ratio over the other trials would hide that this machine starves.
#[test]
fn a_machine_that_starves_is_not_averaged_away() {
    let mut run = MADE_UP.clone();
    let trial = each(&mut run, "burst").next().unwrap();
    let number = trial.record.id;
    handmade(trial, 0, |second| if (8..16).contains(&second) { 0 } else { 90 });
    let burst = beside(&run, "burst");
    let least = of(&burst, Of::Least);
    assert_eq!((&least.during, &least.during_over_both), (&None, &None));
    let why = Missing::NothingDoneIn { part: NeighbourPart::During }.of_machine(1).of_trial(number);
    assert_eq!(least.why_none, Some(why));
    assert!(of(&burst, Of::Mean).during_over_both.is_some(), "the other one did something");
    handmade(each(&mut run, "burst").next().unwrap(), 1, |second| if (8..16).contains(&second) { 0 } else { 90 });
    assert_eq!(beside(&run, "burst").kept, Position::Unknown);
}

/// Throughput of the disturbed cell falls by design, which is no reason to doubt it; in other cells it still would be.
#[test]
fn what_a_neighbour_does_is_no_want_of_a_steady_state() {
    let (disturbed, plain) = ("stops", "same");
    let analysis = crate::summary::analyse(&neighbour::run(3, &[disturbed, plain]));
    let is_unsteady = |load: &str| {
        let of_load = analysis.cells.iter().filter(|cell| cell.coordinates == load);
        of_load.filter(|cell| matches!(cell.steadiness.verdict, Steadiness::Drifting | Steadiness::Unsettled)).count()
    };
    let told = |load: &str| {
        let unsteady = |what: &What| matches!(what, What::NotSteady { .. } | What::NotSettled { .. });
        analysis.findings.iter().filter(|found| unsteady(&found.what) && found.subject.coordinates == load).count()
    };
    assert!(is_unsteady(disturbed) > 0 && told(disturbed) == 0, "{:#?}", analysis.findings);
    assert_eq!(is_unsteady(plain), told(plain));
}

#[test]
fn the_order_of_trials_does_not_matter() {
    let mut shuffled = MADE_UP.clone();
    shuffled.trials.reverse();
    shuffled.trials.rotate_left(7);
    for load in ["burst", "stops", "idle"] {
        assert!(beside(&MADE_UP, load) == beside(&shuffled, load), "{load}");
    }
}
