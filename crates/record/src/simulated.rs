//! Records of studies whose true ratio is known, with realistic noise, to measure how often an analysis is right.
//!
//! A study has a baseline, one or more equal contenders, and one kind of transaction, which takes longer in a slower
//! trial. Records have no facts about machine and database. Everything is drawn from a seed, so it is reproducible.

use crate::FORMAT;
use crate::intervals::{Interval, KindInterval, Measured, Span};
use crate::plan::{Cell, Plan, PlannedTrial};
use crate::run::{Run, StoredTrial};
use crate::settings::Settings;
use crate::synthetic::Chance;
use crate::trial::{DriverFacts, KindTotals, Metric, TrialRecord, Work};
use serde_json::Map;
use std::collections::BTreeMap;

const KIND: &str = "transfer";
const BASELINE: &str = "one";

/// High enough that rounding to whole transactions is far below any noise.
const PER_SECOND: f64 = 5_000.0;

/// Shares of all transactions, and the time each took in a trial of normal speed.
pub const RESPONSES_US: [(f64, u64); 4] = [(0.520, 400), (0.440, 900), (0.035, 2_400), (0.005, 9_000)];

/// What makes repeated runs of the same thing differ. Shares are standard deviations of logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Deviation of each trial: placement of memory, layout on disk, whatever changes at each start.
    pub run_to_run: f64,
    /// How much the host changes from one trial to the next, permanently: warmth, neighbours, a filling disk.
    pub wandering: f64,
    /// Deviation of single seconds.
    pub seconds: f64,
    /// How much of a second's deviation carries over to the next.
    pub alike: f64,
    /// How often something else disturbs the machine, for how long on average, and the share of throughput that remains.
    pub bursts_per_minute: f64,
    pub burst_s: f64,
    pub left_in_burst: f64,
    /// How often a trial is an outlier, and by how much its own deviation is multiplied then.
    pub outliers: f64,
    pub outlier_times: f64,
}

/// A host that changes over time and is disturbed now and then. In windows of two minutes, equal trials differ by
/// about one per cent: 0.8 % of their own, 0.5 % from their seconds, the rest from bursts and changes of the host.
pub const REALISTIC: Noise = Noise {
    run_to_run: 0.008,
    wandering: 0.003,
    seconds: 0.03,
    alike: 0.6,
    bursts_per_minute: 0.2,
    burst_s: 2.0,
    left_in_burst: 0.5,
    outliers: 0.0,
    outlier_times: 1.0,
};

/// The same, with one trial in ten that deviates five times as much.
pub const HEAVY_TAILED: Noise = Noise { outliers: 0.1, outlier_times: 5.0, ..REALISTIC };

/// The study to simulate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Study {
    pub blocks: u32,
    /// How many contenders there are besides the baseline.
    pub others: u32,
    /// True throughput of each of them over that of the baseline.
    pub ratio: f64,
    pub warmup_s: u64,
    pub measured_s: u64,
    pub noise: Noise,
    /// The noise of the other contenders; the baseline has `noise`.
    pub noise_of_others: Noise,
}

impl Study {
    /// Two contenders under the same noise, with windows of two minutes.
    pub const fn of_two(blocks: u32, ratio: f64, noise: Noise) -> Self {
        Self { blocks, others: 1, ratio, warmup_s: 20, measured_s: 120, noise, noise_of_others: noise }
    }
}

/// One run of the study, as it might have been recorded.
pub fn run(study: &Study, seed: u64) -> Run {
    let mut chance = Chance::new(seed);
    let plan = plan(study, seed, &mut chance);
    let mut wandered = 0.0;
    let mut trials = Vec::with_capacity(plan.trials.len());
    for planned in &plan.trials {
        wandered += study.noise.wandering * chance.normal();
        let (noise, true_ratio) =
            if planned.cell == 0 { (&study.noise, 1.0) } else { (&study.noise_of_others, study.ratio) };
        let times = if chance.uniform() < noise.outliers { noise.outlier_times } else { 1.0 };
        let own = noise.run_to_run * times * chance.normal();
        trials.push(trial(study, noise, planned, true_ratio * (wandered + own).exp(), &mut chance));
    }
    Run { plan, host: crate::facts::Facts::default(), trials, durability: Vec::new(), dir: "runs/simulated".into() }
}

fn plan(study: &Study, seed: u64, chance: &mut Chance) -> Plan {
    let cell = |id: u32| Cell {
        id,
        contender: name(id),
        baseline: id == 0,
        scenario: None,
        sweep: Map::new(),
        settings: Settings::default(),
    };
    let mut trials = Vec::new();
    for block in 1..=study.blocks {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Of a few contenders.
        let first = (chance.uniform() * f64::from(study.others + 1)) as u32;
        for cell in (0..=study.others).map(|place| (first + place) % (study.others + 1)) {
            let id = u32::try_from(trials.len()).unwrap_or(u32::MAX).saturating_add(1);
            trials.push(PlannedTrial { id, block, cell, seed: u64::from(block), host: None });
        }
    }
    Plan {
        format: FORMAT,
        question: "Does the analysis find the truth?".to_owned(),
        study: "simulated".to_owned(),
        seed,
        blocks: study.blocks,
        aa: false,
        rehearsed: false,
        margin: None,
        accept: BTreeMap::new(),
        durability: None,
        ablation: None,
        recipes: BTreeMap::new(),
        precision: None,
        cells: (0..=study.others).map(cell).collect(),
        trials,
        workloads: Vec::new(),
    }
}

fn name(cell: u32) -> String {
    if cell == 0 { BASELINE.to_owned() } else { format!("other-{cell}") }
}

fn trial(study: &Study, noise: &Noise, planned: &PlannedTrial, speed: f64, chance: &mut Chance) -> StoredTrial {
    let measured = series(study, noise, speed, chance);
    let window = measured.intervals.iter().filter(|interval| interval.measured);
    let committed = window.map(|interval| interval.kinds[0].count()).sum();
    let driver = DriverFacts {
        placement: "inside".to_owned(),
        warmup_ms: study.warmup_s * 1000,
        measured_ms: study.measured_s * 1000,
        clients: 8,
        sessions: 8,
        shards: 1,
        metric: Metric {
            name: "TPS".to_owned(),
            unit: "transactions per second".to_owned(),
            per_ms: 1000,
            counted: vec![KIND.to_owned()],
        },
        kinds: vec![KindTotals { kind: KIND.to_owned(), committed, ..KindTotals::default() }],
        work: Work {
            transactions: committed,
            statements: committed,
            rows_returned: committed,
            rows_changed: committed,
            ..Work::default()
        },
        ..DriverFacts::default()
    };
    let begun = TrialRecord::begun(planned, &name(planned.cell), "2026-11-21T12:00:00Z".to_owned(), String::new());
    let record = TrialRecord { driver: Some(driver), made_by: None, ..begun };
    StoredTrial {
        record,
        measured: Some(measured),
        findings: Vec::new(),
        looks: None,
        telemetry: Vec::new(),
        machines: Vec::new(),
        instances: Vec::new(),
        bystander: None,
        damage: Vec::new(),
        disagreements: Vec::new(),
    }
}

/// Seconds that depend on the previous one, with occasional bursts.
fn series(study: &Study, noise: &Noise, speed: f64, chance: &mut Chance) -> Measured {
    let fresh = noise.seconds * (1.0 - noise.alike * noise.alike).sqrt();
    let mut deviation = noise.seconds * chance.normal();
    let mut in_burst = false;
    let mut intervals = Vec::new();
    for second in 0..study.warmup_s + study.measured_s {
        deviation = noise.alike * deviation + fresh * chance.normal();
        let ends = in_burst && chance.uniform() < 1.0 / noise.burst_s;
        let begins = chance.uniform() < noise.bursts_per_minute / 60.0;
        in_burst = (in_burst && !ends) || begins;
        let left = if in_burst { noise.left_in_burst } else { 1.0 };
        intervals.push(Interval {
            start_ms: second * 1000,
            length_ms: 1000,
            measured: second >= study.warmup_s,
            kinds: kinds(PER_SECOND * speed * left * deviation.exp(), speed),
        });
    }
    Measured { kinds: vec![KIND.to_owned()], intervals }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Some thousands.
fn kinds(per_second: f64, speed: f64) -> Vec<KindInterval> {
    let count = |share: f64| (per_second * share).round() as u32;
    let value = |value_us: u64| (value_us as f64 / speed).round() as u64;
    let counts: Vec<(u64, u32)> = RESPONSES_US.iter().map(|&(share, us)| (value(us), count(share))).collect();
    let of = |span| KindInterval { kind: 0, span, counts: counts.clone() };
    vec![of(Span::Response), of(Span::Service)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: Study = Study { blocks: 200, measured_s: 60, warmup_s: 0, ..Study::of_two(5, 0.97, REALISTIC) };

    #[test]
    fn a_simulated_study_has_the_ratio_that_was_asked_for() {
        let run = run(&STUDY, 1);
        let log_of = |cell: u32| {
            let own = run.trials.iter().filter(|trial| trial.record.cell == cell);
            let counted = own.filter_map(|trial| trial.record.driver.as_ref()).map(|driver| driver.kinds[0].committed);
            counted.map(|committed| (committed as f64).ln()).sum::<f64>() / 200.0
        };
        let ratio = (log_of(1) - log_of(0)).exp();
        assert!((ratio - 0.97).abs() < 0.006, "{ratio}");
    }

    #[test]
    fn the_same_seed_gives_the_same_study() {
        let short = Study { blocks: 3, ..STUDY };
        assert_eq!(run(&short, 5), run(&short, 5));
        assert!(run(&short, 5) != run(&short, 6));
    }
}
