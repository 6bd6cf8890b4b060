//! Little's law on each trial: the sums of response times and of pauses over the window account for all clients.
//!
//! A client that only waits for answers and pauses is in one of these two states at every moment. The mean number under
//! way (the sum of response times over the length of the window) and the mean number pausing add up to the clients. If
//! not, something was not timed, was timed twice, or its clock is wrong. For arrivals the right number is unknown. But
//! the queue was counted every second, and beyond it at most as many as the sessions can be under way.
//!
//! Machines side by side are checked one by one: the clients of one that is held back wait for other times than those
//! of the others. A sum of unlike things would have bounds that fit none of them.

use crate::findings::{Finding, What};
use crate::gathered::by_first;
use crate::validity;
use record::intervals::Span;
use record::run::{Run, StoredTrial};
use record::trial::{DriverFacts, KindTotals, Pacing};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Tolerated in any case, since the driver's own time between two transactions is not accounted for.
pub const TOLERANCE: f64 = 0.05;

/// Where there are pauses, chance decides how often clients come round; the spread of a round is about its mean.
const STANDARD_ERRORS: f64 = 2.0;

/// What one trial's clients did on average, and what was expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accounted {
    pub trial: u32,
    /// The machine to which these clients belong, if several ran side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<u32>,
    pub contender: String,
    /// The sum of response times over the length of the window.
    pub under_way: f64,
    /// The sum of pauses over the length of the window; `None` if the record lacks them.
    pub pausing: Option<f64>,
    /// The fewest that should be under way and pausing together; `None` if that is unknown.
    pub at_least: Option<f64>,
    pub at_most: f64,
    /// The share by which these bounds may be missed.
    pub tolerance: f64,
    pub holds: bool,
}

impl Accounted {
    pub fn sum(&self) -> f64 {
        self.under_way + self.pausing.unwrap_or(0.0)
    }
}

pub fn all(run: &Run) -> Vec<Accounted> {
    run.trials.iter().filter(|trial| validity::is_valid(trial)).flat_map(of_trial).collect()
}

fn of_trial(trial: &StoredTrial) -> Vec<Accounted> {
    let is_alone = trial.machines.is_empty();
    let of_machine = |(number, machine): (u32, &StoredTrial)| {
        let machine_number = (!is_alone).then_some(number);
        of_machine(machine).map(|accounted| Accounted { machine: machine_number, ..accounted })
    };
    trial.measured_machines().filter_map(of_machine).collect()
}

fn of_machine(trial: &StoredTrial) -> Option<Accounted> {
    let driver = trial.record.driver.as_ref().filter(|driver| driver.measured_ms > 0)?;
    let [count, sum_us, squares] = times_us(trial)?;
    // How long the transactions under way at any moment have been running, on average. About this much time before the window is
    // counted at its beginning, and about this much is not counted at its end.
    let mean_age_us = squares / (2.0 * sum_us.max(1.0));
    let window_us = driver.measured_ms as f64 * 1_000.0;
    let under_way = sum_us / window_us;
    let pausing = driver.paused_ms.map(|paused_ms| paused_ms as f64 / driver.measured_ms as f64);
    let (at_least, at_most) = expected(driver);
    let tolerance = TOLERANCE + STANDARD_ERRORS / count.sqrt() + mean_age_us / window_us;
    let sum = under_way + pausing.unwrap_or(0.0);
    let holds = at_least.is_none_or(|least| sum >= least * (1.0 - tolerance)) && sum <= at_most * (1.0 + tolerance);
    let (trial, contender) = (trial.record.id, trial.record.contender.clone());
    Some(Accounted { trial, machine: None, contender, under_way, pausing, at_least, at_most, tolerance, holds })
}

/// Of the response times of a window, of all kinds together: their number, their sum, and the sum of their squares.
fn times_us(trial: &StoredTrial) -> Option<[f64; 3]> {
    let counts = trial.transactions().filter(|part| part.span == Span::Response).flat_map(|part| &part.counts);
    let sums = counts.fold([0.0; 3], |[count, sum, squares], &(value_us, more)| {
        let (value_us, more) = (value_us as f64, f64::from(more));
        [count + more, sum + value_us * more, squares + value_us * value_us * more]
    });
    (sums[0] > 0.0).then_some(sums)
}

/// The fewest and the most clients that must be under way or pausing.
fn expected(driver: &DriverFacts) -> (Option<f64>, f64) {
    let pacing = driver.pacing.unwrap_or(Pacing::Clients { clients: driver.clients });
    let background = driver.sessions.saturating_sub(pacing.sessions());
    // Deferred work is under way long after its client has moved on.
    let deferred = driver.waiting_max() as f64 + f64::from(background);
    // Failed transactions have no time. Old versions recorded nowhere how long clients waited for room in the deferred queue.
    let failed: u64 = driver.transactions().map(|totals: &KindTotals| totals.failed).sum();
    let all_timed = failed == 0 && driver.held_up() == 0;
    match pacing {
        Pacing::Clients { clients } | Pacing::Terminals { terminals: clients, .. } => {
            let clients = f64::from(clients);
            (driver.paused_ms.filter(|_| all_timed).map(|_| clients), clients + deferred)
        }
        Pacing::Arrivals { sessions, .. } => {
            let Some(waiting) = mean_queue(driver) else { return (None, f64::INFINITY) };
            let grows = driver.queue.as_ref().is_some_and(|queue| queue.waiting_at_end > u64::from(sessions));
            ((all_timed && !grows).then_some(waiting), waiting + f64::from(sessions) + deferred)
        }
    }
}

/// The mean over the seconds of the window. Transactions in a queue that grows have not been answered yet.
fn mean_queue(driver: &DriverFacts) -> Option<f64> {
    let queue = driver.queue.as_ref()?;
    let second = |ms: u64| usize::try_from(ms / 1_000).unwrap_or(usize::MAX);
    let window = queue.each_second.get(second(driver.warmup_ms)..second(driver.warmup_ms + driver.measured_ms))?;
    (!window.is_empty()).then(|| window.iter().sum::<u64>() as f64 / window.len() as f64)
}

/// One finding for each contender, with the trial that misses the bounds by most.
pub fn findings(accounted: &[Accounted]) -> Vec<Finding> {
    let broken = accounted.iter().filter(|one| !one.holds).map(|one| (one.contender.as_str(), one));
    by_first(broken).into_iter().filter_map(|(contender, broken)| finding(contender, &broken)).collect()
}

fn finding(contender: &str, broken: &[&Accounted]) -> Option<Finding> {
    let miss = |one: &Accounted| {
        let few = one.at_least.map_or(0.0, |least| least / one.sum().max(f64::MIN_POSITIVE));
        few.max(one.sum() / one.at_most)
    };
    let worst = broken.iter().copied().max_by(|one, other| miss(one).total_cmp(&miss(other)))?;
    let &Accounted { trial, machine, at_least, at_most, tolerance, .. } = worst;
    let what = What::LittlesLaw { trial, machine, accounted: worst.sum(), at_least, at_most, tolerance };
    // Several machines of one trial may break it.
    Some(Finding::new(what).of(contender).in_trials(broken.iter().map(|one| one.trial).collect::<BTreeSet<u32>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::intervals::{Interval, KindInterval, Measured};
    use record::synthetic;
    use record::synthetic::consolidated;
    use record::trial::{ArrivalProcess, QueuedWork};

    /// A trial of ten seconds in which each second has the same times.
    fn trial(each_second: &[(u64, u32)]) -> StoredTrial {
        let mut trial = synthetic::run(1).trials.remove(0);
        let second = |index: u64| Interval {
            start_ms: index * 1_000,
            length_ms: 1_000,
            measured: true,
            kinds: vec![KindInterval { kind: 0, span: Span::Response, counts: each_second.to_vec() }],
        };
        trial.measured =
            Some(Measured { kinds: vec!["new-order".to_owned()], intervals: (0..10).map(second).collect() });
        let driver = trial.record.driver.as_mut().unwrap();
        (driver.warmup_ms, driver.measured_ms, driver.paused_ms) = (0, 10_000, Some(0));
        trial
    }

    fn paced(mut trial: StoredTrial, pacing: Pacing, paused_ms: u64) -> StoredTrial {
        let driver = trial.record.driver.as_mut().unwrap();
        (driver.pacing, driver.paused_ms, driver.sessions) = (Some(pacing), Some(paused_ms), pacing.sessions());
        trial
    }

    /// L = λ · W: 200 per second, of 20 ms each, are 4 at a time.
    #[test]
    fn two_hundred_a_second_of_twenty_milliseconds_are_four_clients() {
        let found = of_machine(&paced(trial(&[(20_000, 200)]), Pacing::Clients { clients: 4 }, 0)).unwrap();
        assert!((found.under_way - 4.0).abs() < 1e-9, "{found:?}");
        assert!(found.holds && found.at_least == Some(4.0));
        // 5 %, two standard errors of 2,000, and half of 20 ms in 10 s.
        assert!((found.tolerance - (0.05 + 2.0 / 2_000_f64.sqrt() + 0.001)).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn clients_that_are_lost_or_timed_twice_are_found_out() {
        for clients in [3, 5] {
            let found = of_machine(&paced(trial(&[(20_000, 200)]), Pacing::Clients { clients }, 0)).unwrap();
            assert!(!found.holds, "{found:?}");
            assert_eq!(findings(&[found]).len(), 1);
        }
    }

    /// A round is 20 ms of waiting and 4,980 ms of pausing: 40 per second make 200 terminals, of which 199.2 pause.
    #[test]
    fn terminals_are_under_way_or_pause() {
        let pacing = Pacing::Terminals { terminals: 200, sessions: 10 };
        let paused_ms = 40 * 10 * 4_980;
        let found = of_machine(&paced(trial(&[(20_000, 40)]), pacing, paused_ms)).unwrap();
        assert!(found.holds && (found.sum() - 200.0).abs() < 1e-9, "{found:?}");
        assert!(!of_machine(&paced(trial(&[(20_000, 40)]), pacing, paused_ms / 2)).unwrap().holds);
    }

    #[test]
    fn arrivals_are_queued_or_have_a_session() {
        let pacing = Pacing::Arrivals { per_second: 200.0, process: ArrivalProcess::Poisson, sessions: 3 };
        let with = |waiting: u64| {
            let mut trial = paced(trial(&[(20_000, 200)]), pacing, 0);
            trial.record.driver.as_mut().unwrap().queue =
                Some(QueuedWork { each_second: vec![waiting; 10], ..QueuedWork::default() });
            of_machine(&trial).unwrap()
        };
        assert!(with(2).holds, "two wait and two are served");
        assert!(!with(0).holds, "three sessions cannot serve four");
        assert!(!with(9).holds, "nine wait, and only four are timed");
    }

    #[test]
    fn what_a_record_does_not_say_is_held_against_nobody() {
        let mut quick = paced(trial(&[(20_000, 20)]), Pacing::Clients { clients: 4 }, 0);
        assert!(!of_machine(&quick).unwrap().holds);
        quick.record.driver.as_mut().unwrap().paused_ms = None;
        assert!(of_machine(&quick).unwrap().holds, "they may have paused");
        let driver = quick.record.driver.as_mut().unwrap();
        (driver.paused_ms, driver.kinds[0].failed) = (Some(0), 7);
        assert!(of_machine(&quick).unwrap().holds, "what failed took its time as well");
    }

    #[test]
    fn the_made_up_run_obeys_it_and_its_finding_names_the_worst_trial() {
        let mut run = synthetic::run(3);
        assert!(all(&run).iter().all(|one| one.holds), "{:#?}", all(&run));
        for (index, share) in [(0, 2), (2, 4)] {
            let driver = run.trials[index].record.driver.as_mut().unwrap();
            driver.paused_ms = driver.paused_ms.map(|paused_ms| paused_ms / share);
        }
        let contenders: Vec<&str> = [0, 2].map(|index| run.trials[index].record.contender.as_str()).into();
        let told = findings(&all(&run));
        assert_eq!(told.len(), if contenders[0] == contenders[1] { 1 } else { 2 });
        assert!(
            told.iter().any(|found| matches!(found.what, What::LittlesLaw { trial: 3, machine: None, .. })),
            "{told:?}"
        );
    }

    /// Half of the pauses of the second machine's clients are missing.
    #[test]
    fn of_machines_side_by_side_each_is_asked_by_itself() {
        let mut run = consolidated::run(1, None);
        let index = run.trials.iter().position(|trial| trial.machines.len() == 2).unwrap();
        for (machine, share) in run.trials[index].machines.iter_mut().zip([1, 2]) {
            let driver = machine.record.driver.as_mut().unwrap();
            driver.paused_ms = driver.paused_ms.map(|paused_ms| paused_ms / share);
        }
        let found: Vec<(Option<u32>, bool)> =
            of_trial(&run.trials[index]).iter().map(|one| (one.machine, one.holds)).collect();
        assert_eq!(found, [(Some(1), true), (Some(2), false)]);
        let told = findings(&all(&run));
        let id = run.trials[index].record.id;
        assert_eq!(told.len(), 1);
        assert!(matches!(told[0].what, What::LittlesLaw { trial, machine: Some(2), .. } if trial == id), "{told:?}");
        assert_eq!(told[0].subject.trials, [id]);
    }

    /// A machine that is there to disturb the others works during only a part of the window.
    #[test]
    fn a_machine_that_is_not_measured_is_not_asked() {
        let mut run = consolidated::run(1, None);
        let trial = run.trials.iter_mut().find(|trial| trial.machines.len() == 3).unwrap();
        trial.bystander = Some(2);
        let asked: Vec<Option<u32>> = of_trial(trial).iter().map(|one| one.machine).collect();
        assert_eq!(asked, [Some(1), Some(3)]);
    }
}
