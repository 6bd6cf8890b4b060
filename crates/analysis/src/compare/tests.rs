//! Comparisons against published ratios and independently computed intervals.

use super::*;
use crate::cells;
use crate::estimate::Estimate;
use crate::latency::tests::uneven;
use crate::measures::{CATALOG, Scale};
use crate::pairing::WhyUnusable;
use crate::validity;
use record::trial::Outcome;
use record::{simulated, synthetic};

/// A run whose windows counted exactly these numbers, baseline first, one pair for each block.
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

fn all(run: &Run) -> Vec<Comparison> {
    super::all(run, &Observations::of_run(run, CATALOG))
}

fn ratio_of(run: &Run) -> Contrast {
    let [comparison] = &all(run)[..] else { panic!("one comparison") };
    comparison.throughput().unwrap().clone()
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

/// Two doublings of 1.90 and 1.87 give 3.55 together: ratios multiply, so their mean is geometric.
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
    let ratio = comparison.throughput().unwrap();
    assert!((ratio.estimate.point - 0.855_893_350).abs() < 1e-9, "{ratio:?}");
    let (low, high) = ratio.estimate.bounds.known().unwrap();
    assert!((low - 0.837_375_931).abs() < 1e-6 && (high - 0.874_820_257).abs() < 1e-6, "{ratio:?}");
    assert_eq!(comparison.verdict, RatioVerdict::Slower);
}

#[test]
fn an_interval_around_one_decides_nothing() {
    let run = counted(&[(1000, 990), (1000, 1010), (1000, 1000), (1000, 1005)]);
    assert_eq!(all(&run)[0].verdict, RatioVerdict::Undecided);
    let run = counted(&[(1000, 1200), (1000, 1210), (1000, 1190)]);
    assert_eq!(all(&run)[0].verdict, RatioVerdict::Faster);
    let run = counted(&[(1000, 1200)]);
    assert_eq!(all(&run)[0].verdict, RatioVerdict::TooFewTrials);
}

/// Whatever the trials are like, the ratio of two levels is the ratio that is shown with them, in every measure.
#[test]
fn ratios_are_those_of_the_levels() {
    let run = uneven(5);
    let observations = Observations::of_run(&run, CATALOG);
    let [comparison] = &super::all(&run, &observations)[..] else { panic!("one comparison") };
    assert_eq!((comparison.left_out.len(), comparison.contrasts.len() > 20), (0, true));
    for contrast in &comparison.contrasts {
        let level = |cell: u32| observations.level(&contrast.measure, cell).unwrap().estimate.point;
        let (baseline, contender) = (level(comparison.baseline_cell), level(comparison.contender_cell));
        let Estimate { point, .. } = contrast.estimate;
        let apart = match contrast.scale {
            Scale::Ratio => contender / baseline / point - 1.0,
            Scale::Difference | Scale::Proportion => contender - baseline - point,
        };
        assert!(apart.abs() < 1e-9, "{}: {contender} against {baseline}, {point}", contrast.measure);
    }
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
    let [failed, skipped, invalid, wrong, missing] = comparison.left_out.as_slice() else {
        panic!("{:?}", comparison.left_out)
    };
    let ended = |left: &UnpairedBlock| match &left.why[0].why {
        WhyUnusable::NotCompleted(outcome) => outcome.clone(),
        other => panic!("{other:?}"),
    };
    assert!(matches!(ended(failed), Outcome::Failed { phase, .. } if phase == "load"), "{failed:?}");
    assert!(matches!(ended(skipped), Outcome::Skipped { .. }), "{skipped:?}");
    assert!(matches!(ended(invalid), Outcome::Invalid { .. }), "{invalid:?}");
    assert_eq!((wrong.why[0].why.clone(), wrong.why[0].contender.as_str()), (WhyUnusable::WrongData, "kvm"));
    assert_eq!((missing.why[0].why.clone(), missing.why[0].contender.as_str()), (WhyUnusable::NotReached, "native"));
    assert_eq!(comparison.verdict, RatioVerdict::WrongData);
}

/// One trial has one wrong balance: its numbers enter no estimate, and the other trials give no verdict either.
#[test]
fn wrong_data_is_in_no_number_and_refuses_the_verdict() {
    let mut run = counted(&[(1000, 850), (1000, 860), (1000, 840), (1000, 5000)]);
    let wrong = run.trials.iter_mut().find(|trial| trial.record.block == 4 && trial.record.cell == 1).unwrap();
    wrong.findings[0].verdict = record::check::Verdict::Violated { seen: "warehouse 1 is 12.50 short".to_owned() };
    let trial = wrong.record.id;
    let analysis = crate::summary::analyse(&run);
    let comparison = &analysis.comparisons[0];
    assert_eq!(comparison.verdict, RatioVerdict::WrongData);
    assert_eq!(comparison.wrong_data, [WrongData { contender: "kvm".to_owned(), trials: vec![trial] }]);
    let blocks: Vec<u32> = comparison.throughput().unwrap().blocks.iter().map(|block| block.block).collect();
    assert_eq!(blocks, [1, 2, 3]);
    let cell = &analysis.cells[1];
    assert_eq!((cell.outcomes.completed, cell.outcomes.wrong_data), (3, 1));
    let mean = cell.level(THROUGHPUT).unwrap().point / cell.trials[0].value.unwrap();
    assert!((0.95..1.05).contains(&mean), "the fivefold throughput of the wrong trial is not averaged in: {mean}");
    let new_orders = |number: usize| -> u64 { cell.latency[number].count };
    let measured =
        validity::valid_trials(&run, 1).filter_map(|trial| cells::counts_of(trial, "new-order", Span::Response));
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
fn latency_is_compared_for_every_kind() {
    let comparison = &all(&synthetic::run(5))[0];
    let found = headline(&comparison.metric.counted);
    let expected = ["throughput", "response.p50/new-order", "response.p95/new-order", "response.p99/new-order"];
    assert_eq!(found, expected);
    assert!(found.iter().all(|measure| comparison.contrast(measure).is_some()));
    assert!(comparison.contrast("service.mean/payment").is_some());
    // The made-up guest is slower in every transaction, by 1 / 0.853.
    let median = comparison.contrast(&found[1]).unwrap().estimate.point;
    assert!((1.10..1.25).contains(&median), "{median}");
}

/// A margin makes small differences equivalent and leaves large ones as they are.
#[test]
fn with_a_margin_contenders_can_be_equivalent() {
    let verdict = |pairs: &[(u64, u64)], margin: Option<f64>| {
        let mut run = counted(pairs);
        run.plan.margin = margin;
        all(&run)[0].verdict
    };
    let near = [(1000, 994), (1000, 995), (1000, 996), (1000, 994), (1000, 995)];
    assert_eq!(verdict(&near, None), RatioVerdict::Slower, "by half a per cent, and surely so");
    assert_eq!(verdict(&near, Some(0.02)), RatioVerdict::Equivalent);
    assert_eq!(verdict(&near, Some(0.002)), RatioVerdict::Slower);
    let noisy = [(1000, 950), (1000, 1060), (1000, 1000), (1000, 1010), (1000, 970)];
    assert_eq!(verdict(&noisy, Some(0.02)), RatioVerdict::Undecided);
    assert_eq!(verdict(&noisy, Some(0.2)), RatioVerdict::Equivalent);
}

/// Alone, this contender would be called slower; among four the evidence is too weak (Holm).
#[test]
fn more_comparisons_ask_for_more() {
    let just = [(1000, 975), (1000, 990), (1000, 960), (1000, 985), (1000, 992)];
    let run = counted(&just);
    let alone = &all(&run)[0];
    let p = alone.p_equal.unwrap();
    assert_eq!((alone.verdict, (0.0125..0.05).contains(&p)), (RatioVerdict::Slower, true), "{p}");
    let mut many = run.clone();
    for copy in 2..5_u32 {
        let mut cell = run.plan.cells[1].clone();
        (cell.id, cell.contender) = (copy, format!("again-{copy}"));
        let again = run.trials.iter().filter(|trial| trial.record.cell == 1).cloned();
        many.trials.extend(again.map(|mut trial| {
            (trial.record.id, trial.record.cell) = (trial.record.id + 100 * copy, copy);
            trial.record.driver.as_mut().unwrap().kinds[0].committed =
                900 + u64::from(trial.record.block * 31 % 7 * 40);
            trial
        }));
        many.plan.cells.push(cell);
    }
    let found = all(&many);
    assert_eq!((found.len(), found[0].verdict), (4, RatioVerdict::Undecided));
    assert!(found[0].p_equal.unwrap() > p);
    assert_eq!(found[0].throughput().unwrap().estimate, alone.throughput().unwrap().estimate);
}

/// A second trial of the same cell in a block does not count as another block: 0.85 and 0.87 together are √(0.85 · 0.87).
#[test]
fn trials_of_one_block_give_one_ratio() {
    let mut run = counted(&[(1000, 850), (1000, 860), (1000, 840)]);
    let mut again = run.trials.iter().find(|trial| trial.record.cell == 1).unwrap().clone();
    again.record.id = 99;
    again.record.driver.as_mut().unwrap().kinds[0].committed = 870;
    run.trials.push(again);
    let found = ratio_of(&run);
    assert_eq!(found.blocks.len(), 3);
    assert!((found.blocks[0].value - (0.85_f64 * 0.87).sqrt()).abs() < 1e-12, "{found:?}");
    assert!(found.estimate.bounds.known().is_some());
}

/// A small part of `cargo xtask bench statistics`: intervals of 400 simulated studies contain the truth as often as
/// promised, as far as chance allows with so few.
#[test]
fn intervals_of_simulated_studies_hold_the_truth() {
    let study =
        simulated::Study { warmup_s: 0, measured_s: 20, ..simulated::Study::of_two(5, 0.97, simulated::REALISTIC) };
    let holds = |seed: u64| ratio_of(&simulated::run(&study, seed)).estimate.bounds.contain(0.97) == Some(true);
    let covering = (0..400).filter(|seed| holds(*seed)).count();
    assert!((365..=395).contains(&covering), "{covering} of 400");
}
