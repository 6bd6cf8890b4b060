//! Two runs with known ratios, and what keeps them from being compared.

use super::questions::{Difference, DifferenceKind};
use super::*;
use crate::findings::{Severity, ValueChange, What};
use crate::latency::tests::uneven;
use crate::missing::Missing;
use record::check;
use record::synthetic;
use serde_json::json;

/// A made-up run whose native trials counted this many new orders; the guest's stay as they are.
fn counted(native: &[u64]) -> Run {
    let mut run = synthetic::run(u32::try_from(native.len()).unwrap());
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 0) {
        let totals = &mut trial.record.driver.as_mut().unwrap().kinds[0];
        (totals.committed, totals.rolled_back) = (native[trial.record.block as usize - 1], 0);
    }
    run
}

const OLD: [u64; 5] = [5282, 5210, 5341, 5190, 5305];

/// Cells are judged by their own figures, whatever their baselines did.
fn absolutely(threshold: f64) -> RunComparison {
    RunComparison { threshold: Some(threshold), absolute: true }
}

fn judged(cell: &CellPair) -> impl Iterator<Item = &ComparedFigure> {
    cell.figures.iter().filter(|figure| figure.judged)
}

fn throughput_of(two: &TwoRuns) -> &ComparedFigure {
    &two.cells[0].figures[0]
}

/// The interval is the one that `SciPy` computes, as in `welch.rs`: 0.938 to 0.976.
#[test]
fn a_slower_run_is_slower_and_a_regression_only_beyond_the_threshold() {
    let (old, new) = (counted(&OLD), counted(&[5020, 5105, 4960, 5068]));
    let with = |threshold: Option<f64>| compare(&old, &new, RunComparison { threshold, absolute: true }).unwrap();
    let figure = throughput_of(&with(None)).clone();
    assert!((figure.change.estimate.point - 0.956_824_192).abs() < 1e-9, "{figure:?}");
    let (low, high) = figure.change.estimate.bounds.known().unwrap();
    assert!((low - 0.938_005_475).abs() < 1e-8 && (high - 0.976_020_460).abs() < 1e-8, "{figure:?}");
    assert_eq!((figure.verdict, figure.regression), (RatioVerdict::Slower, Regression::NotAsked));
    let regression = |threshold: f64| throughput_of(&with(Some(threshold))).regression;
    assert_eq!(regression(0.02), Regression::Found, "even 0.976 is less than 0.98");
    assert_eq!(regression(0.03), Regression::NotShown, "0.97 lies within");
    assert_eq!(regression(0.07), Regression::RuledOut, "0.938 is more than 0.93");
    let gates = [Some(0.02), Some(0.03), Some(0.07), None].map(|threshold| with(threshold).gate());
    assert_eq!(gates[..2], [Gate::Regressed, Gate::NotRuledOut]);
    assert_eq!(gates[3], Gate::Open);
    // Half of the interval is 0.019877 in logarithms, and 0.97 is 0.013671 from its middle: 4 × (0.019877 / 0.013671)².
    assert_eq!(throughput_of(&with(Some(0.03))).blocks_needed, Some(9));
    assert_eq!(throughput_of(&with(Some(0.07))).blocks_needed, None, "it is decided");
}

/// Also on several hosts, where all blocks on one pair of hosts count once, and in a block that is left out.
#[test]
fn ratios_are_those_of_the_reports() {
    let mut run = counted(&[OLD, OLD].concat());
    let on = |run: &mut Run, hosts: [[&str; 3]; 2]| {
        for trial in &mut run.plan.trials {
            trial.host = Some(hosts[trial.cell as usize][trial.block as usize % 3].to_owned());
        }
    };
    for (hosts, units) in [([["a"; 3], ["a"; 3]], 10), ([["c", "d", "c"], ["a", "b", "a"]], 2)] {
        on(&mut run, hosts);
        let analysis = crate::summary::analyse(&run);
        let reported = |measure: &str| analysis.comparisons[0].contrast(measure).unwrap();
        assert_eq!(reported(THROUGHPUT).blocks.len(), units);
        let two = compare(&run, &run, None).unwrap();
        let ratios = || judged(&two.cells[1]).filter(|figure| figure.relative_to.is_some());
        assert_eq!(ratios().count(), 4);
        for figure in ratios() {
            assert_eq!([&figure.old, &figure.new], [&reported(&figure.measure.id).estimate; 2], "{hosts:?}");
        }
    }
    let trial = run.trials.iter_mut().find(|trial| trial.record.cell == 1).unwrap();
    trial.record.driver.as_mut().unwrap().kinds[0].committed = 0;
    trial.record.driver.as_mut().unwrap().kinds[0].rolled_back = 0;
    let reported = crate::summary::analyse(&run).comparisons.remove(0);
    let two = compare(&run, &run, None).unwrap();
    for figure in judged(&two.cells[1]) {
        assert_eq!(Some(&figure.old), reported.contrast(&figure.measure.id).map(|one| &one.estimate));
    }
}

#[test]
fn the_other_way_round_it_is_faster() {
    let (old, new) = (counted(&[5020, 5105, 4960, 5068]), counted(&OLD));
    let two = compare(&old, &new, absolutely(0.01)).unwrap();
    let figure = throughput_of(&two);
    assert_eq!((figure.verdict, figure.regression), (RatioVerdict::Faster, Regression::RuledOut));
}

/// The compared levels are those in the report of either run, also where trials differ in speed and in how much they
/// did.
#[test]
fn levels_are_those_of_the_report() {
    let run = uneven(5);
    let observations = Observations::of_run(&run, CATALOG);
    let two = compare(&run, &run, RunComparison { threshold: None, absolute: true }).unwrap();
    assert_eq!(two.cells.len(), run.plan.cells.len());
    for pair in &two.cells {
        assert_eq!(pair.figures.iter().filter(|figure| figure.judged).count(), 4);
        assert_eq!(pair.missing, []);
        for figure in &pair.figures {
            let level = observations.level(&figure.measure.id, pair.old_cell).unwrap().estimate;
            assert!(figure.old == level && figure.new == level, "{figure:?}, {level:?}");
        }
    }
}

#[test]
fn response_times_are_slower_above_one() {
    let old = synthetic::run(5);
    let mut new = old.clone();
    for trial in &mut new.trials {
        let parts = trial.measured.iter_mut().flat_map(|measured| &mut measured.intervals);
        for (value_us, _) in parts.flat_map(|interval| &mut interval.kinds).flat_map(|part| &mut part.counts) {
            *value_us *= 2;
        }
    }
    let two = compare(&old, &new, absolutely(0.5)).unwrap();
    assert_eq!(two.cells.len(), 2);
    let found: Vec<(RatioVerdict, Regression)> =
        judged(&two.cells[1]).map(|figure| (figure.verdict, figure.regression)).collect();
    assert_eq!(found[0], (RatioVerdict::Undecided, Regression::RuledOut), "nothing less was done");
    assert_eq!(found[1..3], [(RatioVerdict::Slower, Regression::Found); 2]);
    assert!(judged(&two.cells[1]).any(|figure| figure.measure.id == "response.p99/new-order"));
    assert!((judged(&two.cells[1]).nth(1).unwrap().change.estimate.point - 2.0).abs() < 1e-9);
}

#[test]
fn a_run_against_itself_has_no_warning_and_no_difference() {
    let run = synthetic::run(5);
    let two = compare(&run, &run, Some(0.2)).unwrap();
    assert_eq!(two.findings, []);
    let verdicts = two.cells.iter().flat_map(|cell| &cell.figures).map(|figure| figure.verdict);
    assert!(
        verdicts.into_iter().all(|verdict| matches!(verdict, RatioVerdict::Undecided | RatioVerdict::TooFewTrials))
    );
    assert!((throughput_of(&two).change.estimate.point - 1.0).abs() < 1e-12);
    assert_eq!((two.gate(), two.only_old.len(), two.only_new.len()), (Gate::Open, 0, 0));
}

#[test]
fn runs_that_ask_for_different_things_are_refused() {
    let old = synthetic::run(3);
    let refused = |change: &dyn Fn(&mut Run)| {
        let mut new = old.clone();
        change(&mut new);
        compare(&old, &new, None).unwrap_err()
    };
    let set = |run: &mut Run, table: &str, key: &str, value: serde_json::Value| {
        for cell in &mut run.plan.cells {
            cell.settings.set(&format!("{table}.{key}"), value.clone()).unwrap();
        }
    };
    let workload = refused(&|run| set(run, "workload", "warehouses", json!(4)));
    let of_cell = |cell: &str, what, name: &str, old: &str, new: &str| {
        let change = ValueChange { name: name.to_owned(), old: Some(old.to_owned()), new: Some(new.to_owned()) };
        Difference::OfCell { cell: cell.to_owned(), what, change }
    };
    let warehouses = |cell| of_cell(cell, DifferenceKind::Key, "workload.warehouses", "2", "4");
    assert_eq!(workload, [warehouses("native"), warehouses("kvm")]);
    let load = refused(&|run| set(run, "load", "clients", json!(16)));
    assert_eq!(load[0], of_cell("native", DifferenceKind::Key, "load.clients", "4", "16"));
    let data = refused(&|run| {
        for finding in run.trials.iter_mut().flat_map(|trial| &mut trial.findings) {
            if finding.checksum_of() == Some("stock") {
                finding.verdict = check::Verdict::Holds { seen: Some("7 rows, checksum 00".to_owned()) };
            }
        }
    });
    let old_sum = "200000 rows, checksum 50b91db7da4f671d";
    assert_eq!(data[0], of_cell("native", DifferenceKind::LoadedTable, "stock", old_sum, "7 rows, checksum 00"));
    let cells = refused(&|run| run.plan.cells.iter_mut().for_each(|cell| cell.contender.push('x')));
    let [old, new] = [["native", "kvm"], ["nativex", "kvmx"]].map(|names| names.map(str::to_owned).to_vec());
    assert_eq!(cells, [Difference::NoCommonCell { old, new }]);
}

#[test]
fn another_build_is_a_caution_and_an_old_record_that_names_none_is_not() {
    let old = synthetic::run(3);
    let builds = |made_by: Option<&str>| {
        let mut new = old.clone();
        new.trials.iter_mut().for_each(|trial| trial.record.made_by = made_by.map(str::to_owned));
        let findings = compare(&old, &new, None).unwrap().findings.into_iter();
        findings.filter(|found| matches!(found.what, What::BuildsDiffer { .. })).collect::<Vec<_>>()
    };
    let told = builds(Some("bakeoff 0.2.0"));
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].severity, Severity::Caution);
    let (old_build, new_build) = ("bakeoff 0.1.0 (619ca8b)".to_owned(), "bakeoff 0.2.0".to_owned());
    assert_eq!(told[0].what, What::BuildsDiffer { old: old_build, new: new_build });
    assert_eq!(builds(None), []);
}

#[test]
fn what_cannot_be_told_does_not_pass_the_gate() {
    let (old, mut new) = (synthetic::run(3), synthetic::run(2));
    let two = compare(&old, &new, absolutely(0.03)).unwrap();
    assert_eq!(throughput_of(&two).verdict, RatioVerdict::TooFewTrials);
    assert_eq!((throughput_of(&two).regression, two.gate()), (Regression::Unknown, Gate::Untold));
    new = old.clone();
    new.plan.cells.pop();
    let two = compare(&old, &new, Some(0.9)).unwrap();
    assert_eq!((two.only_old.as_slice(), two.gate()), (["kvm".to_owned()].as_slice(), Gate::Untold));
    assert_eq!(compare(&new, &old, Some(0.9)).unwrap().only_new, ["kvm"]);
    assert_eq!(compare(&new, &old, Some(0.9)).unwrap().gate(), Gate::Open, "what is new cannot have become slower");
    new = old.clone();
    new.trials.clear();
    let two = compare(&old, &new, Some(0.9)).unwrap();
    assert!(two.cells[0].figures.is_empty());
    assert_eq!(
        two.cells[0].missing[0],
        NotCompared { measure: "throughput".to_owned(), old: None, new: Some(Missing::NothingMeasured) }
    );
    assert_eq!(two.gate(), Gate::Untold);
    assert_eq!(compare(&old, &new, None).unwrap().gate(), Gate::Untold, "without a figure there is no result");
    assert_eq!(compare(&old, &old, None).unwrap().gate(), Gate::Open);
}

#[test]
fn wrong_data_has_no_verdict() {
    let old = synthetic::run(5);
    let mut new = old.clone();
    new.trials[0].findings[0].verdict = check::Verdict::Violated { seen: "12.50 short".to_owned() };
    let two = compare(&old, &new, Some(0.03)).unwrap();
    let wrong = two.cells.iter().find(|cell| cell.new_wrong_data).unwrap();
    assert!(wrong.figures.iter().all(|figure| figure.verdict == RatioVerdict::WrongData));
    assert_eq!((wrong.new_trials, two.gate()), (4, Gate::WrongData));
    assert_eq!(compare(&new, &old, Some(0.03)).unwrap().gate(), Gate::Untold);
}

/// The purpose of a gate: a run compared with itself that is too noisy to show anything does not pass.
#[test]
fn a_gate_that_sees_nothing_stays_shut() {
    let noisy = counted(&[5282, 2210, 7341, 3190, 6305]);
    let two = compare(&noisy, &noisy, absolutely(0.05)).unwrap();
    assert_eq!((throughput_of(&two).regression, two.gate()), (Regression::NotShown, Gate::NotRuledOut));
    assert!(throughput_of(&two).blocks_needed.is_some_and(|blocks| blocks > 100), "{:?}", throughput_of(&two));
    assert_eq!(blocks_needed((0.9, 1.1), (0.9_f64 * 1.1).sqrt(), 5), MOST_BLOCKS, "the limit is in its middle");
    assert_eq!(blocks_needed((0.9, 1.1), 1.099, 5), 6, "more than there are");
}

/// A hundred transactions or fewer have none above their 99th percentile.
#[test]
fn a_percentile_that_cannot_be_known_is_not_ruled_out_to_be_slower() {
    let mut run = synthetic::run(3);
    for interval in run.trials.iter_mut().flat_map(|trial| &mut trial.measured).flat_map(|one| &mut one.intervals) {
        for kind in &mut interval.kinds {
            kind.counts.truncate(1);
            kind.counts.iter_mut().for_each(|(_, count)| *count = 1);
        }
    }
    let two = compare(&run, &run, absolutely(0.9)).unwrap();
    let [old, new] = [Some(Missing::NoneLonger), Some(Missing::NoneLonger)];
    let expected = NotCompared { measure: "response.p99/new-order".to_owned(), old, new };
    assert!(two.cells[0].missing.contains(&expected), "{:?}", two.cells[0].missing);
    assert_eq!(two.gate(), Gate::NotRuledOut);
}

/// A host that is a tenth slower slows native and guest alike: no regression. A guest that alone is slower is one.
#[test]
fn what_slows_the_baseline_as_well_cancels() {
    let old = synthetic::run(5);
    let slower = |cells: &[u32]| {
        let mut new = old.clone();
        for trial in new.trials.iter_mut().filter(|trial| cells.contains(&trial.record.cell)) {
            for totals in &mut trial.record.driver.as_mut().unwrap().kinds {
                totals.committed = totals.committed * 9 / 10;
            }
        }
        new
    };
    let regressions = |new: &Run, question: RunComparison| {
        let two = compare(&old, new, question).unwrap();
        let of_cell =
            |cell: &CellPair| judged(cell).next().map(|figure| (figure.relative_to.clone(), figure.regression));
        two.cells.iter().map(of_cell).collect::<Vec<_>>()
    };
    let relative = RunComparison::from(Some(0.05));
    let native = Some("native".to_owned());
    assert_eq!(regressions(&slower(&[0, 1]), relative), [None, Some((native.clone(), Regression::RuledOut))]);
    assert_eq!(regressions(&slower(&[1]), relative), [None, Some((native, Regression::Found))]);
    assert_eq!(
        regressions(&slower(&[0, 1]), absolutely(0.05)),
        [Some((None, Regression::Found)), Some((None, Regression::Found))]
    );
    let two = compare(&old, &slower(&[1]), relative).unwrap();
    let figure = judged(&two.cells[1]).next().unwrap();
    let levels = figure.new.point / figure.old.point;
    assert!((levels / figure.change.estimate.point - 1.0).abs() < 1e-9 && (levels - 0.9).abs() < 1e-3, "{figure:?}");
}
