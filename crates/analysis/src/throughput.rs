//! Counted transactions per unit of time: one figure for each trial, and its course second by second.
//!
//! Where several machines ran side by side, the figure is that of the slowest: a sum would hide a machine that starves.
//! What each of them did is in [`crate::consolidation`].

use crate::batches::{self, BatchSecond};
use crate::estimate::Bounds;
use crate::missing::Missing;
use crate::phases;
use crate::steadiness::{self, TrialSteadiness};
use crate::validity;
use record::intervals::{Interval, KindInterval, Span};
use record::run::StoredTrial;
use record::trial::{DriverFacts, KindTotals, Metric};
use serde::{Deserialize, Serialize};

/// The throughput of one trial, in the unit of its workload's metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialThroughput {
    pub trial: u32,
    pub block: u32,
    /// True if the trial completed and its data is right. Other trials are shown but never averaged.
    pub valid: bool,
    /// A point value: the count of the measured window over its length; of several machines, the slowest one's. `None`
    /// if nothing was measured, or one machine's count is missing.
    pub value: Option<f64>,
    /// How well this trial alone determines its throughput, from means of batches of seconds. It enters no estimate.
    pub interval: Bounds,
    pub steadiness: TrialSteadiness,
    pub seconds: Vec<BatchSecond>,
}

pub fn of_trial(trial: &StoredTrial) -> TrialThroughput {
    let machine = slowest(trial);
    let driver = machine.and_then(|machine| machine.record.driver.as_ref());
    let seconds = machine.zip(driver).map(|(machine, driver)| series(machine, driver)).unwrap_or_default();
    let value = machine.and_then(of_machine);
    TrialThroughput {
        trial: trial.record.id,
        block: trial.record.block,
        valid: validity::is_valid(trial),
        value,
        interval: interval(value, driver, &seconds),
        steadiness: steadiness::of_trial(machine.unwrap_or(trial), &seconds),
        seconds,
    }
}

fn interval(value: Option<f64>, driver: Option<&DriverFacts>, seconds: &[BatchSecond]) -> Bounds {
    if driver.is_some_and(DriverFacts::ends_with_its_work) {
        return Bounds::Unknown { why: Missing::EndsWithItsWork };
    }
    value.map_or(Bounds::Unknown { why: Missing::NothingMeasured }, |value| {
        batches::bounds(value, &batches::measured(seconds))
    })
}

/// Rates of the seconds of the measured window; of several machines, the slowest one's.
pub fn measured_seconds(trial: &StoredTrial) -> Vec<f64> {
    let seconds = || {
        let machine = slowest(trial)?;
        Some(series(machine, machine.record.driver.as_ref()?))
    };
    batches::measured(&seconds().unwrap_or_default())
}

/// The one figure of a trial: the rate of its window, or that of its phases; of several machines, the slowest one's.
pub fn figure(trial: &StoredTrial) -> Option<f64> {
    slowest(trial).and_then(of_machine)
}

/// The name of the figure; for several machines it says that it is a minimum. `None` if nothing was driven.
pub fn metric(trial: &StoredTrial) -> Option<Metric> {
    let metric = &trial.record.driver.as_ref()?.metric;
    Some(match trial.measured_machines().count() {
        0 | 1 => metric.clone(),
        many => Metric {
            name: format!("{}, minimum of {many}", metric.name),
            unit: format!("{}, of the slowest of {many} machines", metric.unit),
            ..metric.clone()
        },
    })
}

/// The rate of each of a trial's measured machines, with its number. `None` if one of them has no rate, since the least
/// of the others need not be the minimum.
pub fn of_machines(trial: &StoredTrial) -> Option<Vec<(u32, f64)>> {
    trial.record.driver.as_ref()?;
    trial.measured_machines().map(|(number, machine)| Some((number, of_machine(machine)?))).collect()
}

/// The machine with the lowest rate, or the trial itself.
pub fn slowest(trial: &StoredTrial) -> Option<&StoredTrial> {
    if trial.machines.is_empty() {
        return Some(trial);
    }
    let rates = of_machines(trial)?;
    let (number, _) = rates.into_iter().min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    trial.measured_machines().find(|(own, _)| *own == number).map(|(_, machine)| machine)
}

/// The figure of one machine or database. `None` if nothing was counted, or if phases were not done whole.
pub fn of_machine(machine: &StoredTrial) -> Option<f64> {
    match phases::of_machine(machine) {
        Some(phases) => phases.ok().map(|phases| phases::combined(&phases)),
        None => of_window(machine.record.driver.as_ref()?),
    }
}

/// The rate of what one machine counted in the measured window.
pub fn of_window(driver: &DriverFacts) -> Option<f64> {
    let counted: u64 =
        driver.kinds.iter().filter(|totals| driver.metric.counts(&totals.kind)).map(KindTotals::finished).sum();
    rate(counted, driver.measured_ms, driver.metric.per_ms)
}

fn series(trial: &StoredTrial, driver: &DriverFacts) -> Vec<BatchSecond> {
    // Transactions that each take minutes have no rate in a second.
    let Some(measured) = trial.measured.as_ref().filter(|_| !driver.ends_with_its_work()) else { return Vec::new() };
    let second = |interval: &Interval| {
        let rate = rate_of(interval, &measured.kinds, driver)?;
        Some(BatchSecond { start_ms: interval.start_ms, measured: interval.measured, rate })
    };
    measured.intervals.iter().filter_map(second).collect()
}

/// The rate of what was counted in one second; `kinds` are the names of the numbered kinds.
pub fn rate_of(interval: &Interval, kinds: &[String], driver: &DriverFacts) -> Option<f64> {
    let is_counted =
        |part: &&KindInterval| kinds.get(usize::from(part.kind)).is_some_and(|kind| driver.metric.counts(kind));
    let responses = interval.kinds.iter().filter(|part| part.span == Span::Response);
    let count = responses.filter(is_counted).map(KindInterval::count).sum();
    rate(count, interval.length_ms, driver.metric.per_ms)
}

fn rate(count: u64, length_ms: u64, per_ms: u64) -> Option<f64> {
    (length_ms > 0 && per_ms > 0).then(|| count as f64 * per_ms as f64 / length_ms as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    /// 4,883 in one second are 293 thousand a minute, the native figure of a published study.
    #[test]
    fn a_count_over_a_window_is_a_rate() {
        assert_eq!(rate(293_000, 60_000, 60_000), Some(293_000.0));
        assert_eq!(rate(8_000, 16_000, 60_000), Some(30_000.0));
        assert_eq!(rate(1, 0, 60_000), None);
    }

    #[test]
    fn the_mean_of_the_measured_seconds_is_the_figure_of_the_window() {
        let run = synthetic::run(3);
        let throughput = of_trial(&run.trials[0]);
        let measured: Vec<f64> =
            throughput.seconds.iter().filter(|second| second.measured).map(|second| second.rate).collect();
        let mean = measured.iter().sum::<f64>() / measured.len() as f64;
        assert!((mean - throughput.value.unwrap()).abs() < 1e-6, "{mean} {:?}", throughput.value);
    }

    /// The figure of several machines is the minimum, under a name that says so, and never the sum.
    #[test]
    fn several_machines_have_the_figure_of_the_slowest() {
        let held_back = synthetic::consolidated::HeldBack { contender: "kvm", machine: 2 };
        let mut run = synthetic::consolidated::run(1, Some(held_back));
        let trial = run.trials.iter_mut().find(|trial| trial.machines.len() == 3 && trial.record.contender == "kvm");
        let trial = trial.unwrap();
        let rates = of_machines(trial).unwrap();
        assert_eq!(rates.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(figure(trial), Some(rates[1].1));
        assert!(rates[1].1 < rates[0].1 && rates[1].1 < rates[2].1);
        let told = of_trial(trial);
        let measured: Vec<f64> =
            told.seconds.iter().filter(|second| second.measured).map(|second| second.rate).collect();
        let mean = measured.iter().sum::<f64>() / measured.len() as f64;
        assert!((mean - rates[1].1).abs() < 1e-6, "the seconds are those of the same machine");
        let metric = metric(trial).unwrap();
        assert_eq!(metric.name, "NOPM, minimum of 3");
        assert_eq!(metric.unit, "new orders per minute, of the slowest of 3 machines");
        let sum = of_window(trial.record.driver.as_ref().unwrap()).unwrap();
        assert!((rates.iter().map(|(_, rate)| rate).sum::<f64>() - sum).abs() < 1e-6);
        trial.machines[0].record.driver = None;
        trial.machines[0].record.outcome =
            record::trial::Outcome::Failed { phase: "measure".to_owned(), why: String::new() };
        assert_eq!((of_machines(trial), figure(trial)), (None, None), "failed is not zero");
    }
}
