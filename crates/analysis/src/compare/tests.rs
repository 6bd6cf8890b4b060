//! Comparisons against published ratios and independently computed intervals.

use super::*;
use crate::latency::tests::uneven;
use record::{simulated, synthetic};

/// A run whose windows counted exactly these, baseline first, one pair for each block.
fn counted(pairs: &[(u64, u64)]) -> Run {
    let mut run = synthetic::run(u32::try_from(pairs.len()).unwrap());
    for trial in &mut run.trials {
        let (baseline, contender) = pairs[trial.record.block as usize - 1];
        let driver = trial.record.driver.as_mut().unwrap();
        driver.kinds[0].rolled_back = 0;
        driver.kinds[0].committed = if trial.record.cell == 0 { baseline } else { contender };
    }
    run
}

fn ratio_of(run: &Run) -> Ratio {
    let [comparison] = &all(run)[..] else { panic!("one comparison") };
    comparison.throughput.clone().unwrap()
}

/// Ratios as published or following from published figures, each of a single run: order entry on eight processors
/// native and in a guest (293 K and 250 K transactions a minute), two guests of equal shape under other hypervisors
/// (requests a second), and the gain of a doubling of processors.
#[test]
fn published_pairs_give_their_published_ratios() {
    let published = [
        (293_000, 250_000, 0.853),
        (232_431, 173_142, 0.745),
        (232_431, 160_564, 0.691),
        (100, 190, 1.90),
        (100, 187, 1.87),
    ];
    for (baseline, contender, ratio) in published {
        let found = ratio_of(&counted(&[(baseline, contender)]));
        assert!((found.estimate.point - ratio).abs() < 0.0005, "{found:?}");
        assert_eq!(found.estimate.bounds.known(), None, "one run says nothing about its uncertainty");
    }
}

/// Two doublings of 1.90 and 1.87 are 3.55 together: ratios multiply, so their mean is geometric.
#[test]
fn ratios_multiply() {
    let found = ratio_of(&counted(&[(100, 190), (100, 187)]));
    assert!((found.estimate.point.powi(2) - 3.553).abs() < 1e-9, "{found:?}");
}

/// `scipy.stats.gmean` and `scipy.stats.t.interval` of the logarithms of 0.85, 0.86, 0.84, 0.88 and 0.85.
#[test]
fn five_blocks_give_a_verdict() {
    let run = counted(&[(1000, 850), (1000, 860), (1000, 840), (1000, 880), (1000, 850)]);
    let comparison = &all(&run)[0];
    let ratio = comparison.throughput.as_ref().unwrap();
    assert!((ratio.estimate.point - 0.855_893_350).abs() < 1e-9, "{ratio:?}");
    let (low, high) = ratio.estimate.bounds.known().unwrap();
    assert!((low - 0.837_375_931).abs() < 1e-6 && (high - 0.874_820_257).abs() < 1e-6, "{ratio:?}");
    assert_eq!(comparison.verdict, Verdict::Slower);
}

#[test]
fn an_interval_around_one_is_no_difference_seen() {
    let run = counted(&[(1000, 990), (1000, 1010), (1000, 1000), (1000, 1005)]);
    assert_eq!(all(&run)[0].verdict, Verdict::NoDifferenceSeen);
    let run = counted(&[(1000, 1200), (1000, 1210), (1000, 1190)]);
    assert_eq!(all(&run)[0].verdict, Verdict::Faster);
    let run = counted(&[(1000, 1200)]);
    assert_eq!(all(&run)[0].verdict, Verdict::TooFewTrials);
}

/// Whatever trials are like, the ratio of two levels is the ratio that stands below them.
#[test]
fn ratios_are_those_of_the_levels() {
    let run = uneven(5);
    let [comparison] = &all(&run)[..] else { panic!("one comparison") };
    assert_eq!((comparison.left_out.len(), comparison.latency.len()), (0, COMPARED_QUANTILES.len()));
    let cell = |id: u32| cells::of_cell(&run, &run.plan.cells[id as usize]);
    let (baseline, contender) = (cell(comparison.baseline_cell), cell(comparison.contender_cell));
    for LatencyRatio { kind, quantile, ratio, .. } in &comparison.latency {
        let level = |cell: &cells::CellResult| cell.response(kind, *quantile).unwrap().point;
        let shown = level(&contender) / level(&baseline);
        assert!((shown / ratio.estimate.point - 1.0).abs() < 1e-12, "{kind} {quantile}: {shown}, {ratio:?}");
    }
    let shown = contender.throughput.unwrap().point / baseline.throughput.unwrap().point;
    assert!((shown / comparison.throughput.as_ref().unwrap().estimate.point - 1.0).abs() < 1e-12);
}

#[test]
fn drift_that_hits_both_sides_of_a_block_cancels() {
    let run = counted(&[(1000, 850), (500, 425), (2000, 1700)]);
    let (low, high) = ratio_of(&run).estimate.bounds.known().unwrap();
    assert!((low - 0.85).abs() < 1e-12 && (high - 0.85).abs() < 1e-12, "{low} {high}");
}

#[test]
fn blocks_without_both_sides_are_left_out_and_named() {
    let run = synthetic::troubled();
    let comparison = &all(&run)[0];
    let left_out: Vec<(u32, &str)> = comparison.left_out.iter().map(|left| (left.block, left.why.as_str())).collect();
    assert_eq!(left_out.len(), 5, "{left_out:?}");
    assert!(left_out[0].1.starts_with("kvm failed in load: "), "{left_out:?}");
    assert_eq!(left_out[1].1, "kvm was skipped: kvm does not work here");
    assert_eq!(left_out[2].1, "kvm is invalid: the driver was the bottleneck");
    assert_eq!(left_out[3].1, "the data of kvm is wrong");
    assert_eq!(left_out[4].1, "native was not reached");
    assert_eq!(comparison.verdict, Verdict::WrongData);
}

/// One wrong balance in one trial: its numbers are in no estimate, and there is no verdict from the others either.
#[test]
fn wrong_data_is_in_no_number_and_refuses_the_verdict() {
    let mut run = counted(&[(1000, 850), (1000, 860), (1000, 840), (1000, 5000)]);
    let wrong = run.trials.iter_mut().find(|trial| trial.record.block == 4 && trial.record.cell == 1).unwrap();
    wrong.findings[0].verdict = record::check::Verdict::Violated { seen: "warehouse 1 is 12.50 short".to_owned() };
    let trial = wrong.record.id;
    let analysis = crate::summary::analyse(&run);
    let comparison = &analysis.comparisons[0];
    assert_eq!(comparison.verdict, Verdict::WrongData);
    assert_eq!(comparison.wrong_data, [WrongData { contender: "kvm".to_owned(), trials: vec![trial] }]);
    let blocks: Vec<u32> = comparison.throughput.as_ref().unwrap().blocks.iter().map(|block| block.block).collect();
    assert_eq!(blocks, [1, 2, 3]);
    let cell = &analysis.cells[1];
    assert_eq!((cell.outcomes.completed, cell.outcomes.wrong_data), (3, 1));
    let mean = cell.throughput.as_ref().unwrap().point / cell.trials[0].value.unwrap();
    assert!((0.95..1.05).contains(&mean), "the fivefold throughput of the wrong trial is not averaged in: {mean}");
    let new_orders = |number: usize| -> u64 { cell.latency[number].count };
    let measured = cells::sound(&run, 1).filter_map(|trial| cells::counts_of(trial, "new-order", Span::Response));
    assert_eq!(new_orders(0), measured.map(|counts| counts.total()).sum::<u64>());
    assert_eq!(analysis.cells[0].outcomes.wrong_data, 0);
}

#[test]
fn swapping_the_baseline_inverts_the_ratio() {
    let run = synthetic::run(5);
    let mut swapped = run.clone();
    for cell in &mut swapped.plan.cells {
        cell.baseline = !cell.baseline;
    }
    let (one, other) = (ratio_of(&run), ratio_of(&swapped));
    let ((low, high), (other_low, other_high)) =
        (one.estimate.bounds.known().unwrap(), other.estimate.bounds.known().unwrap());
    for product in [one.estimate.point * other.estimate.point, low * other_high, high * other_low] {
        assert!((product - 1.0).abs() < 1e-9, "{product}");
    }
}

#[test]
fn latency_is_compared_for_the_counted_kinds() {
    let comparison = &all(&synthetic::run(5))[0];
    let found: Vec<(&str, f64)> =
        comparison.latency.iter().map(|latency| (latency.kind.as_str(), latency.quantile)).collect();
    assert_eq!(found, [("new-order", 0.50), ("new-order", 0.95), ("new-order", 0.99)]);
    // The made-up guest is slower by 1 / 0.853 in every transaction.
    let median = comparison.latency[0].ratio.estimate.point;
    assert!((1.10..1.25).contains(&median), "{median}");
}

/// Spread and smallest effect of the ratios above: `numpy.std(numpy.log(x), ddof=1)`, and 1.681 997 times that by
/// the noncentral t distribution (see `precision.rs`).
#[test]
fn a_ratio_says_what_would_have_been_seen() {
    let run = counted(&[(1000, 850), (1000, 860), (1000, 840), (1000, 880), (1000, 850)]);
    let found = ratio_of(&run);
    let (spread, effect) = (found.spread.unwrap(), found.smallest_effect.unwrap());
    assert!((spread - SPREAD).abs() < 1e-9, "{spread}");
    assert!((effect.above_one.ln() - 1.681_997 * SPREAD).abs() < 1e-6, "{effect:?}");
    assert!((effect.above_one * effect.below_one - 1.0).abs() < 1e-12);
    assert_eq!(ratio_of(&counted(&[(1000, 850), (1000, 860)])).smallest_effect, None);
}

const SPREAD: f64 = 0.017_615_608_767;

/// A second trial of the same cell in a block is no further block: 0.85 and 0.87 together are √(0.85 · 0.87).
#[test]
fn trials_of_one_block_give_one_ratio() {
    let mut run = counted(&[(1000, 850), (1000, 860), (1000, 840)]);
    let mut again = run.trials.iter().find(|trial| trial.record.cell == 1).unwrap().clone();
    again.record.id = 99;
    again.record.driver.as_mut().unwrap().kinds[0].committed = 870;
    run.trials.push(again);
    let found = ratio_of(&run);
    assert_eq!(found.blocks.len(), 3);
    assert!((found.blocks[0].ratio - (0.85_f64 * 0.87).sqrt()).abs() < 1e-12, "{found:?}");
    assert!(found.estimate.bounds.known().is_some());
}

/// A small part of `cargo xtask bench statistics`: intervals of 400 simulated studies hold the truth as often as promised,
/// to within the chance of so few.
#[test]
fn intervals_of_simulated_studies_hold_the_truth() {
    let study = simulated::Study { blocks: 5, ratio: 0.97, warmup_s: 0, measured_s: 20, noise: simulated::REALISTIC };
    let holds = |seed: u64| ratio_of(&simulated::run(&study, seed)).estimate.bounds.contain(0.97) == Some(true);
    let covering = (0..400).filter(|seed| holds(*seed)).count();
    assert!((365..=395).contains(&covering), "{covering} of 400");
}
