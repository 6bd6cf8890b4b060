//! How often is the analysis right? Simulated studies whose truth is known go through the whole of it, as `bakeoff report`
//! would analyse them; counted is how often the interval behind the verdict holds the truth, how often a difference is seen
//! where there is none, and how often one is found where there is one.
//!
//! `cargo xtask bench statistics` runs this and prints what docs/method.md quotes. It asserts no time.

#![allow(clippy::print_stdout, reason = "this program is its output")]

use analysis::compare::Verdict;
use analysis::summary::{Analysis, analyse};
use record::run::Run;
use record::simulated::{HEAVY_TAILED, Noise, REALISTIC, RESPONSES_US, Study, run};
use std::ops::RangeInclusive;
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
const COVERAGE: RangeInclusive<f64> = 0.93..=0.97;
/// Where values are not normal, an interval may be too wide; too narrow it must not be.
const COVERAGE_OF_OTHERS: RangeInclusive<f64> = 0.93..=0.99;
const MOST_FALSE_ALARMS: RangeInclusive<f64> = 0.0..=0.07;
const LEAST_FOUND: RangeInclusive<f64> = 0.90..=1.0;

/// Equivalence is asked about trials that differ by one per cent, of which ten blocks must show it.
const MARGIN: f64 = 0.02;
const BEYOND_MARGIN: f64 = 0.975;
const LEAST_EQUIVALENT: RangeInclusive<f64> = 0.90..=1.0;
const MOST_FALSELY_EQUIVALENT: RangeInclusive<f64> = 0.0..=0.05;

/// A contender that something else disturbs: five times the noise, and bursts all the time.
const DISTURBED: Noise = Noise { run_to_run: 0.04, bursts_per_minute: 2.0, ..REALISTIC };

/// A latency level is one of the run's own time, so the host must not wander off.
const IN_PLACE: Noise = Noise { wandering: 0.0, ..REALISTIC };

/// What was found, of how many studies, and what is asked.
struct Figure {
    what: String,
    found: f64,
    asked: RangeInclusive<f64>,
}

/// The share of simulated studies of which something is true. `kind` numbers what is counted, so that each has seeds of its own
/// and no noise is met twice.
fn share(kind: u64, study: &Study, studies: u32, holds: impl Fn(&Analysis) -> bool, change: impl Fn(&mut Run)) -> f64 {
    let holds = |seed: &u64| {
        let mut run = run(study, (kind << 48) + (u64::from(study.blocks) << 32) + seed);
        change(&mut run);
        holds(&analyse(&run))
    };
    (0..u64::from(studies)).filter(holds).count() as f64 / f64::from(studies.max(1))
}

fn as_it_is(_: &mut Run) {}

fn with_margin(run: &mut Run) {
    run.plan.margin = Some(MARGIN);
}

fn covers(truth: f64) -> impl Fn(&Analysis) -> bool {
    move |analysis| {
        let ratio = analysis.comparisons[0].throughput();
        ratio.is_some_and(|ratio| ratio.estimate.bounds.contain(truth) == Some(true))
    }
}

/// Of all comparisons of a run.
fn any(verdicts: &[Verdict]) -> impl Fn(&Analysis) -> bool {
    move |analysis| analysis.comparisons.iter().any(|one| verdicts.contains(&one.verdict))
}

const DIFFERENCE: [Verdict; 2] = [Verdict::Slower, Verdict::Faster];

/// Whether the baseline's level of a percentile holds what was put in.
fn level_holds(quantile: f64) -> impl Fn(&Analysis) -> bool {
    let mut below = 0.0;
    let truth = RESPONSES_US.into_iter().find(|(share, _)| {
        below += share;
        below >= quantile
    });
    let truth = truth.map_or(f64::NAN, |(_, value_us)| value_us as f64);
    move |analysis| {
        let level = analysis.cells[0].response("transfer", quantile);
        level.is_some_and(|level| level.bounds.contain(truth) == Some(true))
    }
}

/// Whether a steady trial seems to drift; cells are asked, too.
fn seems_to_drift(analysis: &Analysis) -> bool {
    analysis.cells[0].steadiness.verdict.is_no_steady_state()
}

fn figures(studies: u32) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut add = |what: String, asked: &RangeInclusive<f64>, found: f64| {
        println!("| {what} | {:.1} % | {:.0} to {:.0} % |", found * 100.0, asked.start() * 100.0, asked.end() * 100.0);
        figures.push(Figure { what, found, asked: asked.clone() });
    };
    let fewer = studies.div_ceil(EQUAL_TO_SLOWER);
    for blocks in BLOCKS {
        let same = Study::of_two(blocks, 1.0, REALISTIC);
        let slower = Study { ratio: SLOWER, ..same };
        let of = |what: &str| format!("{blocks} blocks: {what}");
        add(of("the interval of the ratio holds it"), &COVERAGE, share(0, &same, studies, covers(1.0), as_it_is));
        add(of("a false alarm"), &MOST_FALSE_ALARMS, share(0, &same, studies, any(&DIFFERENCE), as_it_is));
        let found = share(1, &slower, fewer, any(&[Verdict::Slower]), as_it_is);
        let asked = if blocks >= BLOCKS_THAT_FIND { &LEAST_FOUND } else { &(0.0..=1.0) };
        add(of("3 % slower is found"), asked, found);
        add(
            of("a steady contender seems to drift"),
            &MOST_FALSE_ALARMS,
            share(2, &same, fewer, seems_to_drift, as_it_is),
        );
    }
    for blocks in [5, 10] {
        let of = |what: &str| format!("{blocks} blocks: {what}");
        let placed = Study::of_two(blocks, 1.0, IN_PLACE);
        for quantile in [0.5, 0.95, 0.99] {
            let found = share(3, &placed, studies, level_holds(quantile), as_it_is);
            add(of(&format!("the interval of the p{:.0} level holds it", quantile * 100.0)), &COVERAGE, found);
        }
        let disturbed = Study { noise_of_others: DISTURBED, ratio: 1.0, ..placed };
        let found = share(4, &disturbed, studies, |analysis| level_holds(0.5)(analysis), as_it_is);
        add(of("one contender disturbed: the other's p50 level holds it"), &COVERAGE, found);
        let tails = Study::of_two(blocks, 1.0, HEAVY_TAILED);
        let found = share(5, &tails, studies, covers(1.0), as_it_is);
        add(of("heavy tails: the interval of the ratio holds it"), &COVERAGE_OF_OTHERS, found);
        let five = Study { others: 5, ..Study::of_two(blocks, 1.0, REALISTIC) };
        let found = share(6, &five, fewer, any(&DIFFERENCE), as_it_is);
        add(of("five contenders: a false alarm in the run"), &MOST_FALSE_ALARMS, found);
    }
    let equal = Study::of_two(10, 1.0, REALISTIC);
    let found = share(7, &equal, fewer, any(&[Verdict::Equivalent]), with_margin);
    add("10 blocks, margin 2 %: equal contenders are called equivalent".to_owned(), &LEAST_EQUIVALENT, found);
    let beyond = Study { ratio: BEYOND_MARGIN, ..equal };
    let found = share(8, &beyond, fewer, any(&[Verdict::Equivalent]), with_margin);
    add("10 blocks, margin 2 %: 2.5 % slower is called equivalent".to_owned(), &MOST_FALSELY_EQUIVALENT, found);
    figures
}

fn main() -> ExitCode {
    let studies = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(STUDIES);
    println!(
        "{studies} simulated studies for each line of intervals, a quarter as many for others; with {REALISTIC:?}"
    );
    println!();
    println!("| of studies with | found | asked |");
    println!("| --- | ---: | ---: |");
    let figures = figures(studies);
    println!();
    let missed: Vec<&Figure> = figures.iter().filter(|figure| !figure.asked.contains(&figure.found)).collect();
    for Figure { what, found, asked } in &missed {
        println!("{what}: {found:.3}, not {asked:?}");
    }
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
