//! How often is the analysis right? Simulated studies whose truth is known go through the whole of it, as `bakeoff report`
//! would analyse them; counted is how often the interval behind the verdict holds the truth, how often a difference is seen
//! where there is none, and how often one is found where there is one.
//!
//! `cargo xtask bench statistics` runs this and prints what docs/method.md quotes. It asserts no time.

#![allow(clippy::print_stdout, reason = "this program is its output")]

use analysis::compare::{Comparison, Verdict};
use analysis::summary::analyse;
use record::simulated::{REALISTIC, Study, run};
use std::process::ExitCode;

const BLOCKS: [u32; 4] = [3, 5, 10, 20];

/// With so many, a coverage of 95 % is known to ±1 %.
const STUDIES: u32 = 2_000;

/// Of studies of a slower contender there is one to so many of equal ones: that share need not be known as well.
const EQUAL_TO_SLOWER: u32 = 4;

/// The injected difference, and how many blocks must find it.
const SLOWER: f64 = 0.97;
const BLOCKS_THAT_FIND: u32 = 10;

/// What is asked of the analysis.
const COVERAGE: std::ops::RangeInclusive<f64> = 0.93..=0.97;
const MOST_FALSE_ALARMS: f64 = 0.07;
const LEAST_FOUND: f64 = 0.90;

fn study(blocks: u32, ratio: f64) -> Study {
    Study { blocks, ratio, warmup_s: 20, measured_s: 120, noise: REALISTIC }
}

/// Counts over many studies of one size.
#[derive(Default)]
struct Counts {
    studies: u32,
    /// Whose interval holds the truth.
    covered: u32,
    slower: u32,
    faster: u32,
    /// Sum over studies, to be a mean.
    smallest_effect: f64,
    spread: f64,
    trials: u32,
    drifting_trials: u32,
    cells: u32,
    drifting_cells: u32,
}

impl Counts {
    /// `kind` numbers what is counted, so that each has seeds of its own and no noise is met twice.
    fn of(kind: u64, study: &Study, studies: u32) -> Self {
        let mut counts = Self::default();
        for seed in 0..u64::from(studies) {
            counts.add(study, (kind << 48) + (u64::from(study.blocks) << 32) + seed);
        }
        counts
    }

    fn add(&mut self, study: &Study, seed: u64) {
        let analysis = analyse(&run(study, seed));
        for cell in &analysis.cells {
            self.cells += 1;
            self.drifting_cells += u32::from(cell.steadiness.verdict.is_no_steady_state());
            self.trials += u32::try_from(cell.steadiness.drift_told).unwrap_or(0);
            self.drifting_trials += u32::try_from(cell.steadiness.drifting).unwrap_or(0);
        }
        for comparison in &analysis.comparisons {
            self.compare(comparison, study.ratio);
        }
    }

    fn compare(&mut self, comparison: &Comparison, truth: f64) {
        let Some(ratio) = &comparison.throughput else { return };
        self.studies += 1;
        self.covered += u32::from(ratio.estimate.bounds.contain(truth) == Some(true));
        self.slower += u32::from(comparison.verdict == Verdict::Slower);
        self.faster += u32::from(comparison.verdict == Verdict::Faster);
        self.spread += ratio.spread.unwrap_or(0.0);
        self.smallest_effect += ratio.smallest_effect.map_or(0.0, |effect| 1.0 - effect.below_one);
    }

    fn share(&self, count: u32) -> f64 {
        share(count, self.studies)
    }
}

fn share(count: u32, all: u32) -> f64 {
    f64::from(count) / f64::from(all.max(1))
}

fn main() -> ExitCode {
    let studies = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(STUDIES);
    println!(
        "{studies} studies of equal contenders and a quarter as many of unequal ones for each size, with {REALISTIC:?}"
    );
    println!();
    println!(
        "| blocks | t covers | false alarms | 3 % slower found | spread | smallest effect | cells, trials that \
         seem to drift |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut failures = Vec::new();
    for blocks in BLOCKS {
        let same = Counts::of(0, &study(blocks, 1.0), studies);
        let slower = Counts::of(1, &study(blocks, SLOWER), studies.div_ceil(EQUAL_TO_SLOWER));
        println!("{}", row(blocks, &same, &slower));
        failures.extend(failures_of(blocks, &same, &slower));
    }
    println!();
    for failure in &failures {
        println!("{failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn row(blocks: u32, same: &Counts, slower: &Counts) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    format!(
        "| {blocks} | {} | {} | {} | {} | {} | {}, {} |",
        percent(same.share(same.covered)),
        percent(same.share(same.slower + same.faster)),
        percent(slower.share(slower.slower)),
        percent(same.spread / f64::from(same.studies.max(1))),
        percent(same.smallest_effect / f64::from(same.studies.max(1))),
        percent(share(same.drifting_cells, same.cells)),
        percent(share(same.drifting_trials, same.trials)),
    )
}

fn failures_of(blocks: u32, same: &Counts, slower: &Counts) -> Vec<String> {
    let mut failures = Vec::new();
    let covered = same.share(same.covered);
    if !COVERAGE.contains(&covered) {
        failures.push(format!("{blocks} blocks: the interval covers {covered:.3}, not {COVERAGE:?}"));
    }
    let alarms = same.share(same.slower + same.faster);
    if alarms > MOST_FALSE_ALARMS {
        failures.push(format!("{blocks} blocks: {alarms:.3} false alarms, more than {MOST_FALSE_ALARMS}"));
    }
    let found = slower.share(slower.slower);
    if blocks >= BLOCKS_THAT_FIND && found < LEAST_FOUND {
        failures.push(format!("{blocks} blocks: {found:.3} of slowdowns found, less than {LEAST_FOUND}"));
    }
    failures
}
