//! Truncation points and drifts with known answers, and what follows from them.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use record::synthetic::{self, Chance};

/// `e = [((x[d:] - x[d:].mean())**2).sum() / (n - d)**2 for d in range(n - 4)]` and `numpy.argmin(e)` (numpy 2.4.6).
#[test]
fn mser_leaves_out_what_warms_up() {
    let warming = [
        40.0, 70.0, 85.0, 93.0, 101.0, 98.0, 102.0, 99.0, 103.0, 97.0, 100.0, 101.0, 99.0, 98.0, 102.0, 100.0, 99.0,
        103.0, 97.0, 101.0,
    ];
    assert_eq!(mser(&warming), Some(4));
    assert_eq!(mser(&warming[4..]), Some(0));
}

/// A series that falls to another level in its second half gives 14, which is more than half of 20.
#[test]
fn what_changes_late_has_not_settled() {
    let falling = [
        100.0, 99.0, 101.0, 102.0, 98.0, 100.0, 97.0, 103.0, 100.0, 99.0, 80.0, 60.0, 40.0, 30.0, 21.0, 20.0, 19.0,
        20.0, 21.0, 20.0,
    ];
    assert_eq!(mser(&falling), None);
    assert_eq!(mser(&[1.0; 3]), None);
    assert_eq!(mser(&[1.0; 12]), Some(0), "of equals the one that leaves out least");
}

/// `b = s.reshape(20, 3).mean(1)` of `100 + 0.1 * i + (3 if i % 4 == 0 else -1)` for 60 seconds `i`;
/// `r = scipy.stats.linregress(numpy.arange(20), b)` has no positive correlation left in its residuals, so the answer is
/// `r.slope * 20 / b.mean()` ± `scipy.stats.t.ppf(0.975, 18) * r.stderr * 20 / b.mean()` (scipy 1.17.1).
#[test]
fn the_drift_is_the_slope_that_scipy_finds() {
    let window: Vec<f64> =
        (0..60_u32).map(|second| 100.0 + 0.1 * f64::from(second) + if second % 4 == 0 { 3.0 } else { -1.0 }).collect();
    let found = drift(&window).unwrap();
    let (low, high) = found.bounds.known().unwrap();
    assert!((found.point - 0.055_359_379_507_5).abs() < 1e-12, "{found:?}");
    assert!(((high - low) / 2.0 - 0.009_522_845_4).abs() < 1e-8, "{found:?}");
    assert_eq!(judge(&found), Steadiness::Drifting);
}

fn seconds(rates: &[f64], warmup: usize) -> Vec<BatchSecond> {
    let second =
        |(index, &rate): (usize, &f64)| BatchSecond { start_ms: index as u64 * 1000, measured: index >= warmup, rate };
    rates.iter().enumerate().map(second).collect()
}

/// Noise of five per cent whose neighbours have a correlation of 0.5, around a course of 1 on average.
fn noisy(course: impl Fn(usize) -> f64, count: usize, chance: &mut Chance) -> Vec<f64> {
    let mut state = chance.normal();
    let mut next = |second: usize| {
        state = 0.5 * state + 0.75_f64.sqrt() * chance.normal();
        1000.0 * course(second) * (1.0 + 0.05 * state)
    };
    (0..count).map(&mut next).collect()
}

fn of(rates: &[f64], warmup: usize) -> TrialSteadiness {
    of_trial(&synthetic::run(3).trials[0], &seconds(rates, warmup))
}

#[test]
fn a_level_course_is_steady_and_a_falling_one_is_not() {
    let mut chance = Chance::new(7);
    let level = of(&noisy(|_| 1.0, 630, &mut chance), 30);
    assert_eq!(level.verdict, Steadiness::Steady, "{level:?}");
    let falling = of(&noisy(|second| 1.1 - 0.2 * second as f64 / 630.0, 630, &mut chance), 30);
    assert_eq!(falling.verdict, Steadiness::Drifting);
    assert!((falling.drift.unwrap().point + 0.19).abs() < 0.04);
}

#[test]
fn a_short_window_is_too_short_to_tell() {
    let found = of(&[1000.0; 24], 8);
    let why = Missing::WindowTooShort { seconds: 16, needed: 20 };
    assert_eq!(found.verdict, Steadiness::TooShortToTell { why });
    let why = Missing::DrivenTooShort { seconds: 24, needed: 50 };
    assert_eq!(found.settled, Settled::TooShortToTell { why });
}

#[test]
fn a_warm_up_that_ends_too_early_is_seen() {
    let mut chance = Chance::new(5);
    let warming = |second: usize| 1.0 - 0.6 * (-(second as f64) / 15.0).exp();
    let rates = noisy(warming, 240, &mut chance);
    let Settled::At { start_ms, in_warmup: false, change } = of(&rates, 10).settled else { panic!("too late") };
    assert!((20_000..90_000).contains(&start_ms) && change > 0.005, "{start_ms} {change}");
    assert!(matches!(of(&rates, 100).settled, Settled::At { in_warmup: true, change: 0.0, .. }));
}

/// Of trials without drift whose neighbouring seconds have a correlation of 0.5, one in twenty seems to drift.
#[test]
fn false_alarms_are_as_rare_as_promised() {
    let mut chance = Chance::new(6);
    let mut alarms = 0;
    for _ in 0..1_000 {
        let (low, high) = drift(&noisy(|_| 1.0, 120, &mut chance)).unwrap().bounds.known().unwrap();
        alarms += u32::from(low > 0.0 || high < 0.0);
    }
    assert!((15..=70).contains(&alarms), "{alarms} of 1,000");
}

fn trial(verdict: Steadiness, drift: f64, settled: Settled) -> TrialSteadiness {
    let estimate = Estimate {
        point: drift,
        bounds: Bounds::Unknown { why: Missing::NeverSeen },
        method: EstimateMethod::MeanOfDrifts,
    };
    let checkpoints = Checkpoints::Counted { begun: 3 };
    TrialSteadiness { verdict, drift: Some(estimate), second_half: None, settled, checkpoints }
}

fn together(trials: &[TrialSteadiness]) -> CellSteadiness {
    of_cell(&trials.iter().collect::<Vec<_>>())
}

fn untold() -> Steadiness {
    Steadiness::TooShortToTell { why: Missing::NoTrial }
}

const EARLY: Settled = Settled::At { start_ms: 0, in_warmup: true, change: 0.0 };

#[test]
fn trials_that_cannot_tell_alone_tell_together() {
    let cell = together(&[-0.08, -0.09, -0.085].map(|drift| trial(untold(), drift, EARLY)));
    assert_eq!((cell.verdict, cell.checkpoints_begun), (Steadiness::Drifting, Some((3, 3))));
    let wide = [-0.3, 0.25, 0.1].map(|drift| trial(untold(), drift, EARLY));
    assert!(matches!(together(&wide).verdict, Steadiness::TooShortToTell { .. }));
    let alike = [0.01, -0.09].map(|drift| trial(Steadiness::Steady, drift, EARLY));
    assert_eq!(together(&alike).verdict, Steadiness::Steady, "two trials that say the same");
}

#[test]
fn a_cell_whose_trials_never_settle_has_no_steady_state() {
    let steady = |settled: Settled| trial(Steadiness::Steady, 0.001, settled);
    let three = [Settled::NotInFirstHalf, Settled::NotInFirstHalf, Settled::NotInFirstHalf].map(steady);
    assert_eq!(together(&three).verdict, Steadiness::Unsettled);
    let two = [Settled::NotInFirstHalf, Settled::NotInFirstHalf, EARLY].map(steady);
    assert_eq!(together(&two).verdict, Steadiness::Steady);
}

#[test]
fn late_settling_matters_only_if_it_changes_the_figure() {
    let late = |change: f64| {
        let settled = Settled::At { start_ms: 50_000, in_warmup: false, change };
        warmup_is_too_short(&together(&[0, 1, 2].map(|_| trial(Steadiness::Steady, 0.0, settled.clone()))))
    };
    assert_eq!((late(0.05), late(0.005)), (true, false));
}

proptest! {
    #[test]
    fn the_unit_does_not_matter(window in vec(50.0..150.0_f64, 40..100), factor in 0.1..60.0_f64) {
        let scaled: Vec<f64> = window.iter().map(|rate| rate * factor).collect();
        let (one, other) = (drift(&window).unwrap(), drift(&scaled).unwrap());
        prop_assert!((one.point - other.point).abs() < 1e-9);
        prop_assert_eq!(mser(&window), mser(&scaled));
    }

    #[test]
    fn backwards_it_drifts_the_other_way(window in vec(50.0..150.0_f64, 2..5)) {
        let window: Vec<f64> = window.iter().cycle().take(60).copied().enumerate()
            .map(|(index, rate)| rate + index as f64).collect();
        let backwards: Vec<f64> = window.iter().rev().copied().collect();
        prop_assert!((drift(&window).unwrap().point + drift(&backwards).unwrap().point).abs() < 1e-9);
    }
}
