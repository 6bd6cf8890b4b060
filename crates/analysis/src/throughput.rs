//! Counted transactions per unit of time: one figure for each trial, and its course second by second.

use crate::estimate::Bounds;
use crate::steadiness::{self, TrialSteadiness};
use crate::{batches, cells};
use record::run::StoredTrial;
use record::trial::{DriverFacts, KindTotals};
use serde::{Deserialize, Serialize};

/// The throughput of one trial, in the unit of its workload's metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialThroughput {
    pub trial: u32,
    pub block: u32,
    /// Whether the trial completed and its data is right. Others are shown, but never averaged.
    pub sound: bool,
    /// A plain reading: the count of the measured window over its length. `None` if nothing was measured.
    pub value: Option<f64>,
    /// How well this trial alone knows its throughput, from the means of batches of seconds. No estimate is made of it.
    pub interval: Bounds,
    pub steadiness: TrialSteadiness,
    pub seconds: Vec<Second>,
}

/// One second of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Second {
    pub start_ms: u64,
    pub measured: bool,
    /// What finished in it, as a rate in the metric's unit.
    pub rate: f64,
}

pub fn of_trial(trial: &StoredTrial) -> TrialThroughput {
    let driver = trial.record.driver.as_ref();
    let seconds = driver.map(|driver| series(trial, driver)).unwrap_or_default();
    let value = driver.and_then(of_window);
    TrialThroughput {
        trial: trial.record.id,
        block: trial.record.block,
        sound: cells::is_sound(trial),
        value,
        interval: interval(value, &seconds),
        steadiness: steadiness::of_trial(trial, &seconds),
        seconds,
    }
}

fn interval(value: Option<f64>, seconds: &[Second]) -> Bounds {
    let rates: Vec<f64> = seconds.iter().filter(|second| second.measured).map(|second| second.rate).collect();
    match value {
        Some(value) => batches::bounds(value, &rates),
        None => Bounds::Unknown { why: "nothing was measured".to_owned() },
    }
}

/// What was counted in the measured window, as a rate.
pub fn of_window(driver: &DriverFacts) -> Option<f64> {
    let counted: u64 =
        driver.kinds.iter().filter(|totals| counts(driver, &totals.kind)).map(KindTotals::finished).sum();
    rate(counted, driver.measured_ms, driver.metric.per_ms)
}

fn series(trial: &StoredTrial, driver: &DriverFacts) -> Vec<Second> {
    let Some(measured) = &trial.measured else { return Vec::new() };
    let counted: Vec<bool> = measured.kinds.iter().map(|kind| counts(driver, kind)).collect();
    let intervals = measured.intervals.iter();
    intervals
        .filter_map(|interval| {
            let responses = interval.kinds.iter().filter(|part| part.span == record::intervals::Span::Response);
            let counted = responses.filter(|part| counted.get(usize::from(part.kind)) == Some(&true));
            let count = counted.map(record::intervals::KindInterval::count).sum();
            let rate = rate(count, interval.length_ms, driver.metric.per_ms)?;
            Some(Second { start_ms: interval.start_ms, measured: interval.measured, rate })
        })
        .collect()
}

fn counts(driver: &DriverFacts, kind: &str) -> bool {
    driver.metric.counted.iter().any(|counted| counted == kind)
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
}
