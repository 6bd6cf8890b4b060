//! All findings on one run: reasons to doubt its figures that follow from its record alone.

use super::{ContenderValue, EngineWait, FactDiffers, Finding, SharedValue, What, gathered};
use crate::agreement::Agreement;
use crate::cells::CellResult;
use crate::checks::CheckSummary;
use crate::distributions::chi_squared_at;
use crate::gathered::by_key;
use crate::groups;
use crate::hosts::blocks;
use crate::settings::{PROFILE, SettingsComparison};
use crate::student::{self, FEWEST_BLOCKS};
use crate::validity;
use crate::{machines, throughput, treatment};
use record::check::UNCHECKED;
use record::clock::ClockReading;
use record::facts::Fact;
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::trial::{DriverFacts, Outcome, RunDelay, TrialRecord};
use std::collections::BTreeMap;

/// A machine's clock that is faster or slower than the host's by more than this share falsifies what it times.
const CLOCK_RATE_TOLERANCE: f64 = 0.001;

/// Trials of one cell vary by less than this if nothing disturbs them: the standard deviation of the logarithms of their throughput.
const STEADY: f64 = 0.15;

/// A thread that is woken on an idle CPU runs sooner than this.
const SHORT_WAIT_US: f64 = 5.0;

/// The same in several records of a contender is one finding.
fn of_records<'a, W: IntoIterator<Item = What>>(
    records: impl Iterator<Item = &'a TrialRecord>,
    found: impl Fn(&'a TrialRecord) -> W,
) -> Vec<Finding> {
    gathered(records.flat_map(|record| {
        let finding = move |what| (Finding::new(what).of(&record.contender), record.id);
        found(record).into_iter().map(finding)
    }))
}

/// The records of each machine of each trial.
fn each_record(run: &Run) -> impl Iterator<Item = &TrialRecord> {
    run.trials.iter().flat_map(StoredTrial::each_machine).map(|machine| &machine.record)
}

pub(crate) fn outcomes(run: &Run) -> Vec<Finding> {
    let mut findings = of_records(run.trials.iter().map(|trial| &trial.record), |record| {
        let is_complete = record.outcome == Outcome::Completed;
        (!is_complete).then(|| What::TrialNotCompleted { outcome: in_one_line(&record.outcome) })
    });
    let reached = |id: u32| run.trials.iter().any(|trial| trial.record.id == id);
    let missing: Vec<u32> = run.plan.trials.iter().map(|trial| trial.id).filter(|id| !reached(*id)).collect();
    if !missing.is_empty() {
        let planned = run.plan.trials.len();
        findings.push(Finding::new(What::TrialsMissing { planned }).in_trials(missing));
    }
    findings
}

/// A reason may include the end of a console log, which differs from trial to trial.
fn in_one_line(outcome: &Outcome) -> Outcome {
    let first = |why: &String| why.lines().next().unwrap_or_default().trim_end_matches(':').to_owned();
    match outcome {
        Outcome::Invalid { why } => Outcome::Invalid { why: first(why) },
        Outcome::Failed { phase, why } => Outcome::Failed { phase: phase.clone(), why: first(why) },
        Outcome::Skipped { why } => Outcome::Skipped { why: first(why) },
        Outcome::Completed | Outcome::Interrupted { .. } => outcome.clone(),
    }
}

pub(crate) fn violated(checks: &[CheckSummary]) -> impl Iterator<Item = Finding> + '_ {
    checks.iter().filter(|check| !check.violated.is_empty()).map(|check| {
        let (name, rule, seen) = (check.name.clone(), check.rule.clone(), check.seen.clone());
        let what = What::CheckViolated { check: name, rule, seen };
        Finding::new(what).of(&check.contender).in_trials(check.violated.iter().copied())
    })
}

pub(crate) fn unchecked(checks: &[CheckSummary]) -> impl Iterator<Item = Finding> + '_ {
    let without = checks.iter().filter(|check| check.name.ends_with(UNCHECKED));
    without.map(|check| Finding::new(What::DataUnchecked).of(&check.contender))
}

pub(crate) fn unequal_settings(run: &Run, compared: &[SettingsComparison]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let groups = groups::of_plan(&run.plan);
    for SettingsComparison { coordinates, contenders, servers, settings } in compared {
        let Some(group) = groups.iter().find(|group| group.coordinates == *coordinates) else { continue };
        let differing = settings.iter().filter(|row| row.differs).map(|row| {
            let values = row.values.iter().map(|value| value.as_deref().unwrap_or("absent"));
            let values = SharedValue::by_value(values.zip(contenders.iter().cloned()));
            FactDiffers { fact: row.name.clone(), values: treatment::without_set(group, &row.name, values) }
        });
        let settings: Vec<FactDiffers> = differing.filter(|one| one.values.len() > 1).collect();
        if !settings.is_empty() {
            findings.push(Finding::new(What::SettingsDiffer { settings }).at(coordinates));
        }
        // The plan decides on profiles.
        let product = |server: &str| server.split(PROFILE).next().unwrap_or_default().to_owned();
        let products = servers.iter().map(|all| all.split(" | ").map(product).collect::<Vec<_>>().join(" | "));
        let values = treatment::without_chosen(group, SharedValue::by_value(products.zip(contenders.iter().cloned())));
        if values.len() > 1 {
            let each = |SharedValue { value, contenders }: SharedValue| {
                contenders.into_iter().map(move |contender| ContenderValue { contender, value: value.clone() })
            };
            let servers = values.into_iter().flat_map(each).collect();
            findings.push(Finding::new(What::ServersDiffer { servers }).at(coordinates));
        }
    }
    findings
}

/// Where the kernel of a machine has no `io_uring`, the load engine needs more CPU time for each message.
pub(crate) fn sending(run: &Run) -> Vec<Finding> {
    groups::findings(&run.plan, |group| {
        let ways = group.cells.iter().filter_map(|cell| {
            let driver = validity::trials_of(run, cell.id).find_map(|trial| trial.record.driver.as_ref());
            let driver = driver.filter(|driver| !driver.in_process)?;
            Some((if driver.through_io_uring { "io_uring" } else { "epoll" }, cell.contender.clone()))
        });
        let values = SharedValue::by_value(ways);
        (values.len() > 1).then_some(What::SendingDiffers { values })
    })
}

/// All contenders are listed if one of them waited, so that a difference is seen.
pub(crate) fn engine_waits(run: &Run, cells: &[CellResult]) -> Vec<Finding> {
    let wait = |result: &CellResult| {
        let RunDelay { share, us_per_turn, .. } = result.driver.as_ref()?.run_delay?;
        Some(EngineWait { contender: result.contender.clone(), share, us_per_turn })
    };
    groups::findings(&run.plan, |group| {
        let own = cells.iter().filter(|result| group.cells.iter().any(|cell| cell.id == result.cell));
        let waits: Vec<EngineWait> = own.filter_map(wait).collect();
        let is_long = waits.iter().any(|wait| wait.us_per_turn > SHORT_WAIT_US);
        is_long.then_some(What::EngineWaited { waits })
    })
}

/// A reader takes the ratio for the price of a hypervisor.
pub(crate) fn emulated(run: &Run) -> Vec<Finding> {
    let mut found = of_records(each_record(run), |record| {
        record.machine.as_ref().and_then(machines::how_emulated).map(|how| What::VmEmulated { how })
    });
    if run.has_only_audits() {
        let audits =
            run.durability.iter().filter_map(|audit| Some((audit.emulated.as_ref()?, audit.contender.as_str())));
        let finding = |(how, contenders): (&String, Vec<&str>)| {
            Finding::new(What::VmEmulated { how: how.clone() }).of(&contenders.join(", "))
        };
        found.extend(by_key(audits).into_iter().map(finding));
    }
    found
}

pub(crate) fn disagreements(agreement: &[Agreement]) -> Vec<Finding> {
    gathered(agreement.iter().flat_map(|checked| {
        let each = checked.disagreements.iter().cloned();
        each.map(move |how| (Finding::new(What::RecordDisagrees { how }), checked.trial))
    }))
}

pub(crate) fn clocks(run: &Run) -> Vec<Finding> {
    let drifting = run.trials.iter().filter_map(|trial| {
        let length_ms: u64 = trial.record.phases.iter().map(|phase| phase.length_ms).sum();
        let machines = trial.each_machine().iter().filter_map(|machine| machine.record.machine.as_ref());
        let worst = machines.filter_map(|machine| clock_rate_error(&machine.clock, length_ms)).reduce(f64::max);
        let worst = worst.filter(|rate| *rate > CLOCK_RATE_TOLERANCE)?;
        Some((trial.record.contender.as_str(), (worst, trial.record.id)))
    });
    let finding = |(contender, found): (&str, Vec<(f64, u32)>)| {
        let share = found.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
        Finding::new(What::ClockWrong { share }).of(contender).in_trials(found.into_iter().map(|(_, trial)| trial))
    };
    by_key(drifting).into_iter().map(finding).collect()
}

/// The smallest share by which a machine's clock was certainly wrong; each reading is uncertain by half its round trip.
fn clock_rate_error(readings: &[ClockReading], length_ms: u64) -> Option<f64> {
    let lowest = readings.iter().min_by_key(|reading| reading.offset_ns)?;
    let highest = readings.iter().max_by_key(|reading| reading.offset_ns)?;
    let apart_ns = highest.offset_ns.abs_diff(lowest.offset_ns);
    let uncertain_ns = lowest.round_trip_ns.midpoint(highest.round_trip_ns);
    let certain_ns = apart_ns.saturating_sub(uncertain_ns);
    (length_ms > 0).then(|| certain_ns as f64 / (length_ms as f64 * 1e6))
}

pub(crate) fn not_honoured(run: &Run) -> Vec<Finding> {
    of_records(each_record(run), |record| {
        let decided = record.machine.iter().flat_map(|machine| &machine.decided);
        let lacking = decided.filter(|(_, fact)| matches!(fact, Fact::Unavailable(_)));
        lacking.map(|(name, fact)| What::NotHonoured { wish: name.clone(), fact: fact.clone() })
    })
}

/// Those of several machines are among the trial's own.
pub(crate) fn noted_by_trials(run: &Run) -> Vec<Finding> {
    of_records(run.trials.iter().map(|trial| &trial.record), |record| {
        record.warnings.iter().map(|note| What::NotedByTrial { note: note.clone() })
    })
}

/// Pairing by block compensates for drift, but not for what comes and goes within seconds.
/// Trials on different hosts are not expected to be alike.
pub(crate) fn unsteady(run: &Run) -> impl Iterator<Item = Finding> + '_ {
    run.plan.cells.iter().filter_map(|cell: &Cell| {
        let hosts = blocks::of_blocks(&run.plan, cell.id);
        let mut of_hosts: BTreeMap<Option<&&str>, Vec<f64>> = BTreeMap::new();
        for trial in validity::valid_trials(run, cell.id) {
            of_hosts.entry(hosts.get(&trial.record.block)).or_default().extend(throughput::figure(trial));
        }
        let apart = apart(of_hosts.values())?;
        Some(Finding::new(apart).of(&cell.contender).at(&cell.coordinates()))
    })
}

/// Found if they vary by more than chance makes of the tolerated variation in 19 of 20 studies, however many trials there are.
fn apart<'a>(of_hosts: impl Iterator<Item = &'a Vec<f64>>) -> Option<What> {
    let (mut squares, mut degrees, mut times) = (0.0, 0.0, 1.0_f64);
    for values in of_hosts {
        let logs = student::logarithms(values)?;
        let mean = student::mean_of(&logs);
        squares += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        degrees += logs.len() as f64 - 1.0;
        let ends = |pick: fn(f64, f64) -> f64| logs.iter().copied().reduce(pick).unwrap_or(mean);
        times = times.max((ends(f64::max) - ends(f64::min)).exp());
    }
    let spread = (squares / degrees).sqrt();
    (degrees >= 2.0 && squares > STEADY.powi(2) * chi_squared_at(0.95, degrees))
        .then_some(What::TrialsApart { times, spread })
}

pub(crate) fn failed(run: &Run) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for trial in run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed) {
        for totals in trial.record.driver.iter().flat_map(DriverFacts::transactions) {
            let (failed, of) = counts.entry(&trial.record.contender).or_default();
            *failed += totals.failed;
            *of += totals.failed + totals.finished();
        }
    }
    let some = counts.into_iter().filter(|(_, (failed, _))| *failed > 0);
    some.map(|(contender, (failed, of))| Finding::new(What::TransactionsFailed { failed, of }).of(contender)).collect()
}

pub(crate) fn design(run: &Run) -> Vec<Finding> {
    // Audits are not compared with each other.
    if run.has_only_audits() {
        return Vec::new();
    }
    // A single cell may be all there is, but not beside others that are compared.
    let is_compared = run.plan.cells.iter().any(|cell| cell.baseline);
    let mut findings = groups::findings(&run.plan, |group| {
        let has_none = !group.cells.iter().any(|cell| cell.baseline);
        (has_none && (is_compared || group.cells.len() > 1)).then_some(What::NoBaseline)
    });
    let blocks = run.plan.blocks;
    if (blocks as usize) < FEWEST_BLOCKS {
        findings.push(Finding::new(What::TooFewBlocks { blocks, needed: FEWEST_BLOCKS }));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers;
    use std::collections::BTreeSet;

    /// Own transactions without checks have figures, and each contender has one caution.
    #[test]
    fn trials_that_no_check_looks_at_count_with_a_caution() {
        let mut run = record::synthetic::run(3);
        for trial in &mut run.trials {
            trial.findings = vec![record::check::CheckResult::unchecked("file", "no file of checks is named")];
        }
        let analysis = crate::summary::analyse(&run);
        let told: Vec<_> = analysis.findings.iter().filter(|one| one.what == What::DataUnchecked).collect();
        let contenders = told.iter().filter_map(|one| one.subject.contender.as_deref());
        assert_eq!(contenders.collect::<BTreeSet<_>>(), BTreeSet::from(["native", "kvm"]));
        assert!(told.len() == 2 && analysis.cells.iter().all(|cell| cell.outcomes.completed == 3));
        assert!(analysis.comparisons[0].throughput().is_some());
    }

    /// As if the host got a new kernel between two blocks.
    #[test]
    fn a_contender_whose_machine_became_another_is_named_with_the_trials_of_each() {
        let mut run = record::synthetic::run(3);
        let told = |run: &Run| {
            let found = crate::summary::analyse(run).findings;
            found.into_iter().filter(|one| matches!(one.what, What::MachineChanged { .. })).collect::<Vec<_>>()
        };
        let of_contender: Vec<usize> =
            (0..run.trials.len()).filter(|trial| run.trials[*trial].record.contender == "native").collect();
        for (trial, kernel) in of_contender.iter().zip(["6.1.0-1", "6.1.0-1", "6.1.0-2"]) {
            let machine = run.trials[*trial].record.machine.as_mut().unwrap();
            machine.inside.insert("kernel.release".to_owned(), record::facts::Fact::known(kernel));
        }
        let found = told(&run);
        let [Finding { what: What::MachineChanged { fact, values }, subject, .. }] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((fact.as_str(), subject.contender.as_deref()), ("kernel.release", Some("native")));
        assert_eq!((values[0].trials.len(), values[1].trials.len()), (2, 1));
        // Hosts of several have kernels of their own.
        let ids: Vec<u32> = of_contender.iter().map(|trial| run.trials[*trial].record.id).collect();
        for planned in run.plan.trials.iter_mut().filter(|planned| ids.contains(&planned.id)) {
            planned.host = Some(if planned.id == ids[2] { "b" } else { "a" }.to_owned());
        }
        assert_eq!(told(&run), []);
    }

    #[test]
    fn load_engines_that_send_in_different_ways_are_named() {
        let mut run = record::synthetic::run(3);
        let told = |run: &Run| {
            let found = crate::summary::analyse(run).findings.into_iter();
            found.filter(|one| matches!(one.what, What::SendingDiffers { .. })).collect::<Vec<_>>()
        };
        for trial in &mut run.trials {
            let contender = trial.record.contender.clone();
            let driver = trial.record.driver.as_mut().unwrap();
            (driver.in_process, driver.through_io_uring) = (false, contender == "native");
        }
        let found = told(&run);
        let [Finding { what: What::SendingDiffers { values }, .. }] = &found[..] else { panic!("{found:?}") };
        let shared: Vec<_> = values.iter().map(|one| (one.value.as_str(), one.contenders.len())).collect();
        assert_eq!(shared, [("epoll", run.plan.cells.len() - 1), ("io_uring", 1)]);
        for trial in &mut run.trials {
            trial.record.driver.as_mut().unwrap().in_process = true;
        }
        assert_eq!(told(&run), [], "nothing is sent");
    }

    #[test]
    fn load_engines_that_waited_for_cpus_are_named_with_those_that_did_not() {
        let mut run = record::synthetic::run(3);
        let told = |run: &Run| {
            let analysis = crate::summary::analyse(run);
            let stamp = answers::worst(&answers::all(&analysis));
            let waited = |one: &Finding| matches!(one.what, What::EngineWaited { .. });
            (analysis.findings.into_iter().filter(waited).collect::<Vec<_>>(), stamp)
        };
        let (none, stamp) = told(&run);
        assert_eq!(none, [], "a few microseconds are no wait");
        let delay = |run: &mut Run, us_per_turn| {
            for trial in run.trials.iter_mut().filter(|trial| trial.record.contender == "kvm") {
                let driver = trial.record.driver.as_mut().unwrap();
                driver.testimony.run_delay = Some(RunDelay { share: 0.3, us_per_turn, beside_database: Some(true) });
            }
        };
        delay(&mut run, 80.0);
        let (found, same) = told(&run);
        let [Finding { what: What::EngineWaited { waits }, .. }] = &found[..] else { panic!("{found:?}") };
        let waits: Vec<_> = waits.iter().map(|wait| (wait.contender.as_str(), wait.share, wait.us_per_turn)).collect();
        assert_eq!(waits, [("native", 0.02, 3.0), ("kvm", 0.3, 80.0)]);
        assert_eq!(same, stamp, "it is a part of the load");
    }

    #[test]
    fn a_clock_is_only_accused_beyond_what_its_readings_are_worth() {
        let reading = |offset_ns, round_trip_ns| ClockReading { at: String::new(), offset_ns, round_trip_ns };
        // 1 ms apart over one second is one in a thousand, if the readings were exact.
        let exact = clock_rate_error(&[reading(0, 0), reading(1_000_000, 0)], 1000).unwrap();
        assert!((exact - 0.001).abs() < 1e-12, "{exact}");
        let vague = clock_rate_error(&[reading(0, 1_000_000), reading(1_000_000, 1_000_000)], 1000);
        assert_eq!(vague, Some(0.0));
        assert_eq!(clock_rate_error(&[], 1000), None);
    }
}
