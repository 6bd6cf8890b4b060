//! Forecasts compared with figures computed by scipy, and pilots that cannot be used.

use super::*;
use proptest::prelude::*;
use record::synthetic;
use serde_json::json;

const RATIOS: [f64; 10] = [0.873, 0.845, 0.861, 0.902, 0.839, 0.858, 0.880, 0.851, 0.866, 0.829];

/// A run whose blocks have these ratios.
fn with_ratios(ratios: &[f64]) -> Run {
    let mut run = synthetic::run(u32::try_from(ratios.len()).unwrap());
    for trial in &mut run.trials {
        let ratio = if trial.record.cell == 0 { 1.0 } else { ratios[trial.record.block as usize - 1] };
        let driver = trial.record.driver.as_mut().unwrap();
        driver.kinds[0].rolled_back = 0;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let committed = (ratio * 1e9).round() as u64;
        driver.kinds[0].committed = committed;
    }
    run
}

fn planned(pilot: &Run, blocks: u32) -> Plan {
    Plan { blocks, ..pilot.plan.clone() }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "found {found}, expected {expected}");
}

/// With `s`, `low` and `high` of the test in [`crate::spread`]: `expm1(t.ppf(0.975, 19) * s / 20**0.5)`, and the first `n`
/// from 3 on with `t.ppf(0.975, n - 1) * s / n**0.5 <= log(1.01)` (scipy 1.17.1).
#[test]
fn a_forecast_is_what_the_spread_says_at_its_middle_and_both_ends() {
    let pilot = with_ratios(&RATIOS);
    let outlook = outlook(&planned(&pilot, 20), &pilot, Some(0.01)).unwrap();
    let [forecast] = &outlook.comparisons[..] else { panic!("one comparison") };
    close(forecast.spread.point, 0.024_633_263);
    let half_width = forecast.half_width.unwrap();
    close(half_width.point, HALF_WIDTH[0]);
    close(half_width.low, HALF_WIDTH[1]);
    close(half_width.high, HALF_WIDTH[2]);
    let [point, low, high] = BLOCKS.map(Some);
    assert_eq!(forecast.blocks_needed, Some(BlocksNeeded { point, low, high }));
    assert!(forecast.smallest_effect.unwrap().point > half_width.point, "it must stand out of the interval");
}

const HALF_WIDTH: [f64; 3] = [0.011_595_434, 0.007_961_385, 0.021_270_001];
const BLOCKS: [u32; 3] = [26, 14, 81];

#[test]
fn a_run_that_may_stop_by_itself_needs_its_least_blocks() {
    let pilot = with_ratios(&RATIOS);
    let mut plan = planned(&pilot, 12);
    let (least_blocks, max_blocks, time_limit_ms, ended) = (12, 100, None, None);
    plan.precision =
        Some(record::precision::Precision { half_width: 0.2, least_blocks, max_blocks, time_limit_ms, ended });
    let needed = outlook(&plan, &pilot, Some(0.2)).unwrap().comparisons[0].blocks_needed.unwrap();
    assert_eq!(needed.point, Some(12));
}

/// The phases of the made-up trials last 33.0 s each, not counting 0.9 s of boot and 7 phases of 90 ms.
#[test]
fn a_block_takes_what_the_pilots_trials_took_with_the_plans_own_windows() {
    let pilot = synthetic::run(5);
    let mut plan = planned(&pilot, 5);
    let pilot_ms: u64 =
        pilot.trials[..2].iter().flat_map(|trial| &trial.record.phases).map(|phase| phase.length_ms).sum();
    let now = outlook(&plan, &pilot, None).unwrap();
    assert_eq!((now.block_ms, now.same_windows, now.comparisons[0].blocks_needed), (pilot_ms, true, None));
    for cell in &mut plan.cells {
        cell.settings.set("load.measure", json!(124_000)).unwrap();
    }
    let longer = outlook(&plan, &pilot, None).unwrap();
    assert_eq!((longer.block_ms, longer.same_windows), (pilot_ms + 200_000, false));
}

#[test]
fn a_pilot_of_another_study_is_refused_with_what_differs() {
    let pilot = with_ratios(&RATIOS);
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = planned(&pilot, 5);
        change(&mut plan);
        outlook(&plan, &pilot, None).unwrap_err().to_string()
    };
    let told = refused(&|plan| plan.cells[1].contender = "xen".to_owned());
    assert_eq!(told, "it has no xen to learn from; it has native, kvm");
    let told = refused(&|plan| plan.cells[0].settings.set("machine.vcpus", json!(4)).unwrap());
    assert_eq!(told, "it is of another study: for native, machine.vcpus differ from the plan's");
    let other = json!({ "kind": "x", "a": 1, "b": 2, "c": 3 });
    let told = refused(&|plan| plan.cells[1].settings.set("engine", other.clone()).unwrap());
    assert!(told.contains("for kvm, engine.a, engine.b, engine.c, and 2 more keys differ"), "{told}");
    let mut limited = planned(&pilot, 5);
    limited.cells.iter_mut().for_each(|cell| cell.settings.set("load.max_other_cpu", json!(0.05)).unwrap());
    assert!(outlook(&limited, &pilot, None).is_ok(), "the same is measured");
    let told = refused(&|plan| drop(plan.cells.pop()));
    assert_eq!(told, "the plan compares nothing");
}

#[test]
fn a_pilot_with_too_few_blocks_is_refused() {
    let pilot = with_ratios(&RATIOS[..4]);
    let told = outlook(&planned(&pilot, 10), &pilot, None).unwrap_err().to_string();
    let expected = "only 4 of its blocks have valid trials of both kvm and native; at least 5 are needed to know how far \
                    blocks lie apart";
    assert_eq!(told, expected);
}

proptest! {
    // Each compares a whole run anew.
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn a_wider_wish_never_needs_more_blocks(wished in 0.002..0.3_f64) {
        let pilot = with_ratios(&RATIOS[..5]);
        let needed = |wished| outlook(&pilot.plan, &pilot, Some(wished)).unwrap().comparisons[0].blocks_needed.unwrap();
        let BlocksNeeded { point, low, high } = needed(wished);
        prop_assert!(needed(wished * 1.1).point <= point);
        prop_assert!(low <= point && point <= high);
    }
}
