//! How many clients to try next on the way to the peak, and when it is found.
//!
//! Pure: it takes the steps so far and returns the next one. The climb doubles the clients until two steps in a row get no
//! more done than the best before them (one alone may be noise). It also ends when a limit is broken or no more clients are
//! allowed. Then the gaps beside the best are tried until they are small. Steps whose difference may be chance are tied.
//!
//! The best of many noisy steps is too good by chance. So nothing measured here is the result: the caller measures the
//! chosen number of clients afresh.

use crate::plan::Driven;
use record::ladder::{ClimbEnd, Rung};
use record::trial::KindTotals;

/// Each step of the climb multiplies the clients by this.
const FACTOR: u32 = 2;
/// Two steps in a row, because a checkpoint or a neighbour can spoil one.
const STEPS_WITHOUT_GAIN: usize = 2;
/// Gaps beside the best are divided until no ratio is larger than this: each doubling is divided once.
const GAP_MAX: f64 = 1.45;
/// If the best keeps moving, it is on a plateau, where further steps find nothing.
const REFINEMENTS_MAX: usize = 6;
/// Two throughputs are different if more than two standard errors lie between them, …
const STANDARD_ERRORS: f64 = 2.0;
/// … and more than this share: the seconds of one window cannot show how windows vary among each other.
const LEAST_DIFFERENCE: f64 = 0.02;

/// The limits that every step must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LadderLimits {
    pub max_clients: u32,
    pub failed_share: f64,
    pub p99_us: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Measure with this many clients, and ask again.
    Try(u32),
    Found(Peak),
    /// Even one client breaks a limit.
    NoneWithin(ClimbEnd),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    pub chosen: u32,
    pub smallest_tied: u32,
    pub ended: ClimbEnd,
}

/// CPUs that were busy for a larger share of the time than this had no room for more clients.
const CPUS_FULL: f64 = 0.9;
/// If CPUs idled for a larger share than this while something waited for storage, storage was the bottleneck.
const STORAGE_WAITED_FOR: f64 = 0.2;
/// The same limit as in the trial's own judgement of the driver.
const SHARD_FULL: f64 = 0.9;

/// Makes one step of the climb from what was driven in it.
pub fn rung(clients: u32, driven: &Driven) -> Rung {
    let facts = &driven.facts;
    let each_second: Vec<f64> = driven.seconds.iter().map(|second| second.counted as f64).collect();
    let (per_second, standard_error) = mean_and_error(&each_second);
    let finished: u64 = facts.transactions().map(KindTotals::finished).sum();
    let failed: u64 = facts.transactions().map(|kind| kind.failed).sum();
    Rung {
        clients,
        per_second,
        standard_error,
        failed_share: failed as f64 / (finished + failed).max(1) as f64,
        p99_us: facts.testimony.response.p99_us,
        cpu: None,
        busiest_shard: facts.testimony.busiest_shard,
    }
}

/// Too few values say little about their spread, so it is taken to be that of independent events.
fn mean_and_error(each_second: &[f64]) -> (f64, f64) {
    const FEWEST: usize = 3;
    let count = each_second.len().max(1) as f64;
    let mean = each_second.iter().sum::<f64>() / count;
    let variance = if each_second.len() < FEWEST {
        mean
    } else {
        each_second.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)
    };
    (mean, (variance / count).sqrt())
}

/// Says in words what the bottleneck of a step was.
pub fn saturated(rung: &Rung, in_process: bool) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    if !in_process && rung.busiest_shard > SHARD_FULL {
        return format!("the load engine: its busiest thread worked {} of the time", percent(rung.busiest_shard));
    }
    match rung.cpu {
        None => "not known: the machine's CPUs were not watched".to_owned(),
        Some(cpu) if cpu.busy > CPUS_FULL => format!("the machine's CPUs: {} busy", percent(cpu.busy)),
        Some(cpu) if cpu.waiting > STORAGE_WAITED_FOR => {
            format!("storage: CPUs idled {} of the time waiting for it", percent(cpu.waiting))
        }
        Some(cpu) => format!(
            "neither CPUs ({} busy) nor reads from storage: clients wait for each other (locks, commits) or for writes",
            percent(cpu.busy)
        ),
    }
}

/// Decides what to do after these steps, which are in the order in which they were measured.
pub fn next(limits: &LadderLimits, rungs: &[Rung]) -> Next {
    let mut climbed = 0;
    let mut clients = 1;
    let ended = loop {
        let Some(rung) = rungs.get(climbed) else { return Next::Try(clients) };
        climbed += 1;
        if let Some(ended) = end_of_climb(limits, &rungs[..climbed]) {
            break ended;
        }
        clients = rung.clients.saturating_mul(FACTOR).min(limits.max_clients);
    };
    let Some(best) = best(limits, rungs) else { return Next::NoneWithin(ended) };
    if rungs.len() - climbed < REFINEMENTS_MAX
        && let Some(between) = largest_gap_beside(best, rungs)
    {
        return Next::Try(between);
    }
    let tied = rungs.iter().filter(|rung| broken(limits, rung).is_none() && !is_better(best, rung));
    let smallest_tied = tied.map(|rung| rung.clients).min().unwrap_or(best.clients);
    Next::Found(Peak { chosen: best.clients, smallest_tied, ended })
}

/// The most steps that can be needed: those of the climb and those that refine it.
pub fn steps_max(limits: &LadderLimits) -> u32 {
    let climb = limits.max_clients.max(1).next_power_of_two().trailing_zeros() + 1;
    climb + u32::try_from(REFINEMENTS_MAX).unwrap_or(0)
}

fn end_of_climb(limits: &LadderLimits, climb: &[Rung]) -> Option<ClimbEnd> {
    let last = climb.last()?;
    if let Some(ended) = broken(limits, last) {
        return Some(ended);
    }
    let without_gain = climb.len().checked_sub(STEPS_WITHOUT_GAIN).filter(|before| *before > 0);
    if let Some(before) = without_gain
        && let Some(best) = most(&climb[..before])
        && climb[before..].iter().all(|rung| !is_gain(rung, best))
    {
        return Some(if is_better(best, last) { ClimbEnd::Declined } else { ClimbEnd::Levelled });
    }
    (last.clients >= limits.max_clients).then_some(ClimbEnd::LargestReached)
}

fn broken(limits: &LadderLimits, rung: &Rung) -> Option<ClimbEnd> {
    if rung.failed_share > limits.failed_share {
        return Some(ClimbEnd::Errors);
    }
    limits.p99_us.filter(|limit| rung.p99_us > *limit).map(|_| ClimbEnd::Slow)
}

/// Whether a step justifies climbing on. A gain that may be chance counts, too: one step too many costs little, and a
/// missed peak costs much.
fn is_gain(step: &Rung, best: &Rung) -> bool {
    step.per_second > best.per_second * (1.0 + LEAST_DIFFERENCE)
}

/// Whether one step got more done than another, beyond what chance explains.
fn is_better(one: &Rung, other: &Rung) -> bool {
    let noise = STANDARD_ERRORS * one.standard_error.hypot(other.standard_error);
    one.per_second - other.per_second > noise.max(LEAST_DIFFERENCE * other.per_second)
}

fn best<'a>(limits: &LadderLimits, rungs: &'a [Rung]) -> Option<&'a Rung> {
    let within = rungs.iter().filter(|rung| broken(limits, rung).is_none());
    within.max_by(|one, other| one.per_second.total_cmp(&other.per_second))
}

fn most(rungs: &[Rung]) -> Option<&Rung> {
    rungs.iter().max_by(|one, other| one.per_second.total_cmp(&other.per_second))
}

/// The number of clients in the middle of the wider gap between the best and its neighbours, if that is wide.
fn largest_gap_beside(best: &Rung, rungs: &[Rung]) -> Option<u32> {
    let others = || rungs.iter().map(|rung| rung.clients);
    let below = others().filter(|clients| *clients < best.clients).max();
    let above = others().filter(|clients| *clients > best.clients).min();
    let gaps = below.map(|below| (below, best.clients)).into_iter().chain(above.map(|above| (best.clients, above)));
    let ratio = |(low, high): (u32, u32)| f64::from(high) / f64::from(low);
    let widest = gaps.filter(|gap| ratio(*gap) > GAP_MAX).max_by(|one, other| ratio(*one).total_cmp(&ratio(*other)))?;
    let (low, high) = widest;
    // Between two numbers of clients, so it fits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let middle = (f64::from(low) * f64::from(high)).sqrt().round() as u32;
    (low < middle && middle < high).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use record::ladder::CpuUse;

    const LIMITS: LadderLimits = LadderLimits { max_clients: 128, failed_share: 0.01, p99_us: None };

    fn rung(clients: u32, per_second: f64) -> Rung {
        Rung { clients, per_second, standard_error: 0.003 * per_second, ..Rung::default() }
    }

    /// Climbs a curve to the end; returns the numbers of clients tried and the result.
    fn climb(limits: &LadderLimits, curve: impl Fn(u32, usize) -> Rung) -> (Vec<u32>, Next) {
        let mut rungs: Vec<Rung> = Vec::new();
        loop {
            match next(limits, &rungs) {
                Next::Try(clients) => {
                    assert!(rungs.len() < steps_max(limits) as usize, "no end: {rungs:?}");
                    assert!((1..=limits.max_clients).contains(&clients));
                    assert!(rungs.iter().all(|rung| rung.clients != clients), "{clients} twice");
                    rungs.push(curve(clients, rungs.len()));
                }
                end => return (rungs.iter().map(|rung| rung.clients).collect(), end),
            }
        }
    }

    fn found(chosen: u32, smallest_tied: u32, ended: ClimbEnd) -> Next {
        Next::Found(Peak { chosen, smallest_tied, ended })
    }

    /// Rises to a peak at 12 clients and declines beyond it, because of contention.
    fn peaked(clients: u32) -> f64 {
        let load = f64::from(clients) / 12.0;
        1_000.0 * 2.0 * load / (1.0 + load * load)
    }

    #[test]
    fn a_decline_brackets_the_peak_and_the_gaps_beside_it_are_tried() {
        let (tried, end) = climb(&LIMITS, |clients, _| rung(clients, peaked(clients)));
        assert_eq!(tried, [1, 2, 4, 8, 16, 32, 64, 23, 11, 13]);
        assert_eq!(end, found(13, 11, ClimbEnd::Declined));
    }

    #[test]
    fn on_a_plateau_the_smallest_number_that_does_as_well_is_told() {
        let level = |clients: u32| 1_000.0 * f64::from(clients.min(8)) / 8.0;
        // Within the plateau every other step is a little better or worse.
        let noise = |step: usize| if step.is_multiple_of(2) { 1.006 } else { 0.996 };
        let (tried, end) = climb(&LIMITS, |clients, step| rung(clients, level(clients) * noise(step)));
        assert_eq!(tried[..6], [1, 2, 4, 8, 16, 32], "two steps without a gain end the climb");
        let Next::Found(peak) = end else { panic!("{end:?}") };
        assert_eq!((peak.smallest_tied, peak.ended), (8, ClimbEnd::Levelled));
        assert!(peak.chosen >= 8);
    }

    #[test]
    fn noise_does_not_end_a_climb_that_still_gains() {
        let noisy = |clients: u32| Rung { standard_error: 0.3 * peaked(clients), ..rung(clients, peaked(clients)) };
        let (tried, end) = climb(&LIMITS, |clients, _| noisy(clients));
        assert_eq!(tried[..7], [1, 2, 4, 8, 16, 32, 64]);
        assert!(matches!(end, Next::Found(peak) if peak.chosen == 13 && peak.smallest_tied < 11), "{end:?}");
    }

    #[test]
    fn one_bad_step_does_not_end_the_climb() {
        let disturbed = |clients: u32| if clients == 8 { 0.4 } else { 1.0 };
        let (tried, end) = climb(&LIMITS, |clients, _| rung(clients, disturbed(clients) * f64::from(clients)));
        assert!(tried.contains(&128));
        assert_eq!(end, found(128, 128, ClimbEnd::LargestReached));
    }

    #[test]
    fn what_rises_to_the_end_ends_at_the_largest_number_allowed() {
        let limits = LadderLimits { max_clients: 100, ..LIMITS };
        let (tried, end) = climb(&limits, |clients, _| rung(clients, f64::from(clients)));
        assert_eq!(tried, [1, 2, 4, 8, 16, 32, 64, 100, 80]);
        assert_eq!(end, found(100, 100, ClimbEnd::LargestReached));
    }

    #[test]
    fn a_limit_ends_the_climb_and_the_best_is_within_it() {
        let limits = LadderLimits { p99_us: Some(50_000), ..LIMITS };
        let slow = |clients: u32| Rung { p99_us: u64::from(clients) * 2_000, ..rung(clients, f64::from(clients)) };
        let (tried, end) = climb(&limits, |clients, _| slow(clients));
        assert_eq!(tried, [1, 2, 4, 8, 16, 32, 23], "32 clients need 64 ms");
        assert_eq!(end, found(23, 23, ClimbEnd::Slow));
        let failing = |clients: u32| Rung {
            failed_share: if clients > 4 { 0.2 } else { 0.0 },
            ..rung(clients, f64::from(clients))
        };
        let (_, end) = climb(&LIMITS, |clients, _| failing(clients));
        assert_eq!(end, found(4, 4, ClimbEnd::Errors));
    }

    #[test]
    fn if_one_client_is_too_many_there_is_no_peak() {
        let (tried, end) = climb(&LIMITS, |clients, _| Rung { failed_share: 0.5, ..rung(clients, 10.0) });
        assert_eq!((tried, end), (vec![1], Next::NoneWithin(ClimbEnd::Errors)));
    }

    #[test]
    fn one_client_can_be_the_peak() {
        let (tried, end) = climb(&LIMITS, |clients, _| rung(clients, 100.0 / f64::from(clients)));
        assert_eq!((tried, end), (vec![1, 2, 4], found(1, 1, ClimbEnd::Declined)));
    }

    #[test]
    fn a_mean_and_its_standard_error() {
        let (mean, error) = mean_and_error(&[8.0, 10.0, 12.0, 10.0]);
        // Deviations 2, 0, 2, 0: variance 8/3, divided by four seconds.
        assert!((mean - 10.0).abs() < 1e-12 && (error - (2.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{error}");
        assert_eq!(mean_and_error(&[9.0]), (9.0, 3.0));
        assert_eq!(mean_and_error(&[]), (0.0, 0.0));
    }

    #[test]
    fn what_ran_out_is_said_in_words() {
        let with = |busy, waiting| Rung { cpu: Some(CpuUse { busy, waiting, stolen: 0.0 }), ..rung(8, 100.0) };
        assert!(saturated(&with(0.97, 0.0), false).contains("CPUs: 97 %"));
        assert!(saturated(&with(0.4, 0.5), false).starts_with("storage"));
        assert!(saturated(&with(0.4, 0.1), false).starts_with("neither"));
        let driver = Rung { busiest_shard: 0.99, ..with(0.97, 0.0) };
        assert!(saturated(&driver, false).starts_with("the load engine"));
        assert!(saturated(&driver, true).contains("CPUs"), "there the engine works on the driver's threads");
        assert!(saturated(&rung(8, 100.0), false).starts_with("not known"));
    }

    proptest! {
        /// For any curve and noise, the climb ends, and the chosen number was tried and is within its limits.
        #[test]
        fn every_climb_ends(
            curve in prop::collection::vec((0.0..5_000.0_f64, 0.0..0.03_f64, 0..90_000_u64), 30),
            max_clients in 2..10_000_u32,
        ) {
            let limits = LadderLimits { max_clients, failed_share: 0.01, p99_us: Some(80_000) };
            let at = |clients: u32, step: usize| {
                let (per_second, failed_share, p99_us) = curve[step % curve.len()];
                Rung { failed_share, p99_us, ..rung(clients, per_second) }
            };
            let (tried, end) = climb(&limits, at);
            if let Next::Found(peak) = end {
                prop_assert!(tried.contains(&peak.chosen) && tried.contains(&peak.smallest_tied));
                let step = tried.iter().position(|clients| *clients == peak.chosen).unwrap();
                prop_assert!(broken(&limits, &at(peak.chosen, step)).is_none());
            }
        }
    }
}
