//! How often is the analysis right? Simulated studies with a known truth go through all of it, as `bakeoff report`
//! would analyse them. Counted are three things: how often the interval behind the verdict contains the truth, how
//! often a difference is seen without one, and how often a true one is found.
//!
//! `cargo xtask bench statistics` runs this and prints what docs/statistics.md quotes. It asserts no time.

#![allow(clippy::print_stdout, reason = "this program is its output")]

use analysis::compare::RatioVerdict;
use analysis::findings::Finding;
use analysis::steadiness::Steadiness;
use analysis::summary::{Analysis, analyse};
use record::simulated::{HEAVY_TAILED, Noise, REALISTIC, RESPONSES_US, Study, run};
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::thread;

const BLOCKS: [u32; 4] = [3, 5, 10, 20];

/// With this many studies, a coverage of 95 % is known to ±1 %.
const STUDIES: u32 = 2_000;

/// One study of a slower contender is simulated for so many of equal ones: the share found need not be known as well.
const EQUAL_TO_SLOWER: u32 = 4;

/// The injected difference, and how many blocks must find it.
const SLOWER: f64 = 0.97;
const BLOCKS_THAT_FIND: u32 = 10;

/// The range in which each figure must be.
const COVERAGE: RangeInclusive<f64> = 0.93..=0.97;
/// Where values are not normal, an interval may be too wide, but never too narrow.
const COVERAGE_OF_OTHERS: RangeInclusive<f64> = 0.93..=0.99;
const MOST_FALSE_ALARMS: RangeInclusive<f64> = 0.0..=0.07;
const LEAST_FOUND: RangeInclusive<f64> = 0.90..=1.0;
const TWICE_FOUND: RangeInclusive<f64> = 0.80..=1.0;

/// Ten blocks must show the equivalence of equal contenders, and hardly ever of contenders that are 2.5 % apart.
const MARGIN: f64 = 0.02;
const BEYOND_MARGIN: f64 = 0.975;
const LEAST_EQUIVALENT: RangeInclusive<f64> = 0.90..=1.0;
const MOST_FALSELY_EQUIVALENT: RangeInclusive<f64> = 0.0..=0.05;

/// A contender that other load disturbs: its trials have five times the usual noise.
const DISTURBED: Noise = Noise { run_to_run: 0.04, ..REALISTIC };

/// A latency level belongs to the time of its run, so the host must not drift between runs.
const IN_PLACE: Noise = Noise { wandering: 0.0, ..REALISTIC };

/// What was counted, the share of studies in which it was found, and the range in which it must be.
struct Figure {
    what: String,
    found: f64,
    asked: RangeInclusive<f64>,
}

type Holds<'a> = &'a (dyn Fn(&Analysis) -> bool + Sync);

/// The share of simulated studies in which each of `holds` is true. `kind` numbers the figure, so that each has seeds
/// of its own and no noise occurs twice.
fn shares<const N: usize>(
    kind: u64,
    study: &Study,
    margin: Option<f64>,
    studies: u32,
    holds: [Holds<'_>; N],
) -> [f64; N] {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let of_seed = |seed: u64| {
        let mut run = run(study, (kind << 48) + (u64::from(study.blocks) << 32) + seed);
        run.plan.margin = margin;
        let analysis = analyse(&run);
        holds.map(|holds| u32::from(holds(&analysis)))
    };
    let part = |first: usize| {
        let seeds = (0..u64::from(studies)).skip(first).step_by(threads);
        seeds.map(of_seed).fold([0; N], |sum, one| std::array::from_fn(|place| sum[place] + one[place]))
    };
    let sums = thread::scope(|scope| {
        let part = &part;
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        parts
            .into_iter()
            .filter_map(|part| part.join().ok())
            .fold([0; N], |sum, one| std::array::from_fn(|place| sum[place] + one[place]))
    });
    sums.map(|count| f64::from(count) / f64::from(studies.max(1)))
}

fn covers(truth: f64) -> impl Fn(&Analysis) -> bool {
    move |analysis| {
        let ratio = analysis.comparisons[0].throughput();
        ratio.is_some_and(|ratio| ratio.estimate.bounds.contain(truth) == Some(true))
    }
}

/// True if any comparison of the run has one of these verdicts.
fn any(verdicts: &[RatioVerdict]) -> impl Fn(&Analysis) -> bool {
    move |analysis| analysis.comparisons.iter().any(|one| verdicts.contains(&one.verdict))
}

const FASTER: [RatioVerdict; 1] = [RatioVerdict::Faster];
const DIFFERENCE: [RatioVerdict; 2] = [RatioVerdict::Slower, RatioVerdict::Faster];

/// True if the interval of the baseline's percentile contains the simulated value.
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

/// True if the baseline seems to drift, although it is steady.
fn seems_to_drift(analysis: &Analysis) -> bool {
    matches!(analysis.cells[0].steadiness.verdict, Steadiness::Drifting | Steadiness::Unsettled)
}

/// True if the baseline's trials are said to differ more than usual.
fn seems_apart(analysis: &Analysis) -> bool {
    let apart = |one: &Finding| one.what.code() == "trials-apart" && one.subject.contender.as_deref() == Some("one");
    analysis.findings.iter().any(apart)
}

/// Trials that vary by no more than is tolerated, and by twice as much.
fn of_variation(studies: u32, add: &mut dyn FnMut(String, &RangeInclusive<f64>, f64)) {
    for blocks in [3, 5, 10, 40] {
        for noise in [0.02, 0.07, 0.15, 0.30] {
            let own = Noise { run_to_run: noise, ..IN_PLACE };
            let [found] = shares(8, &Study::of_two(blocks, 1.0, own), None, studies, [&seems_apart]);
            let asked = match (noise > 0.15, blocks >= BLOCKS_THAT_FIND) {
                (false, _) => &MOST_FALSE_ALARMS,
                (true, true) => &TWICE_FOUND,
                (true, false) => &(0.0..=1.0),
            };
            let percent = noise * 100.0;
            add(
                format!("{blocks} blocks, trials vary by {percent:.0} %: they seem to differ more than usual"),
                asked,
                found,
            );
        }
    }
}

fn figures(studies: u32) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut add = |what: String, asked: &RangeInclusive<f64>, found: f64| {
        println!("| {what} | {:.1} % | {:.0} to {:.0} % |", found * 100.0, asked.start() * 100.0, asked.end() * 100.0);
        figures.push(Figure { what, found, asked: asked.clone() });
    };
    let fewer = studies.div_ceil(EQUAL_TO_SLOWER);
    for blocks in BLOCKS {
        let of = |what: &str| format!("{blocks} blocks: {what}");
        let same = Study::of_two(blocks, 1.0, REALISTIC);
        let [covered, alarms, drifting] =
            shares(0, &same, None, studies, [&covers(1.0), &any(&DIFFERENCE), &seems_to_drift]);
        let slower = Study { ratio: SLOWER, ..same };
        let [found] = shares(1, &slower, None, fewer, [&any(&[RatioVerdict::Slower])]);
        add(of("the interval of the ratio holds it"), &COVERAGE, covered);
        add(of("a false alarm"), &MOST_FALSE_ALARMS, alarms);
        add(of("3 % slower is found"), if blocks >= BLOCKS_THAT_FIND { &LEAST_FOUND } else { &(0.0..=1.0) }, found);
        add(of("a steady contender seems to drift"), &MOST_FALSE_ALARMS, drifting);
    }
    for blocks in [5, 10] {
        let of = |what: &str| format!("{blocks} blocks: {what}");
        let placed = Study::of_two(blocks, 1.0, IN_PLACE);
        let levels = shares(2, &placed, None, studies, [&level_holds(0.5), &level_holds(0.95), &level_holds(0.99)]);
        for (level, found) in ["p50", "p95", "p99"].into_iter().zip(levels) {
            add(of(&format!("the interval of the {level} level holds it")), &COVERAGE, found);
        }
        let disturbed = Study { noise_of_others: DISTURBED, ..Study::of_two(blocks, 1.0, REALISTIC) };
        let [covered, alarms] = shares(3, &disturbed, None, studies, [&covers(1.0), &any(&FASTER)]);
        add(of("one contender disturbed: the interval of the ratio holds it"), &COVERAGE_OF_OTHERS, covered);
        add(of("one contender disturbed: it is called faster"), &MOST_FALSE_ALARMS, alarms);
        let tails = Study::of_two(blocks, 1.0, HEAVY_TAILED);
        let [covered] = shares(4, &tails, None, studies, [&covers(1.0)]);
        add(of("heavy tails: the interval of the ratio holds it"), &COVERAGE_OF_OTHERS, covered);
        let five = Study { others: 5, ..Study::of_two(blocks, 1.0, REALISTIC) };
        let [alarms] = shares(5, &five, None, fewer, [&any(&DIFFERENCE)]);
        add(of("five contenders: a false alarm in the run"), &MOST_FALSE_ALARMS, alarms);
    }
    of_variation(fewer, &mut add);
    let equal = Study::of_two(10, 1.0, REALISTIC);
    let [found] = shares(6, &equal, Some(MARGIN), fewer, [&any(&[RatioVerdict::Equivalent])]);
    add("10 blocks, margin 2 %: equal contenders are called equivalent".to_owned(), &LEAST_EQUIVALENT, found);
    let beyond = Study { ratio: BEYOND_MARGIN, ..equal };
    let [found] = shares(7, &beyond, Some(MARGIN), fewer, [&any(&[RatioVerdict::Equivalent])]);
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
