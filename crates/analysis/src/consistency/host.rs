//! Whether the host stayed the same from trial to trial: clocks, mitigations, other load, stolen time, memory.
//!
//! Blocks compensate for slow drift of a host. What is reported here is what no pairing compensates for: a setting that
//! changed in between, and trials during which others used the host.

use crate::findings::{Finding, HostFact, InTrials, Subject, What};
use crate::gathered::{by_key, distinct};
use crate::machines;
use crate::student::mean_of;
use record::host_state::{HostMemory, HostReading, HostState};
use record::ladder::CpuUse;
use record::looks::Reading;
use record::run::Run;
use record::trial::TrialRecord;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A hypervisor below us that takes more than this share of the CPUs has an effect as large as the differences we look for.
const STOLEN_MAX: f64 = 0.01;
/// Other processes may use this share of the host's CPUs: the background of an idle system stays below it.
pub const OTHERS_MAX: f64 = 0.05;
/// Others may read and write as many bytes in a second: the logs of an idle system stay below it.
const OTHERS_DISK_MAX: f64 = 1e6;
/// Something may wait for memory during this share of the window.
const MEMORY_STALLS_MAX: f64 = 0.01;
/// Where this share of the host's memory is available, what waits for memory is a machine at its own limit.
const AVAILABLE_ENOUGH: f64 = 0.1;
/// Pages swapped within a window: 4 MiB of the usual ones.
const SWAPPED_MAX: f64 = 1_024.0;
/// The CPU frequency may differ by this factor between trials. It is read at two moments only, so chance affects it.
const FREQUENCY_RATIO_MAX: f64 = 1.1;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostDuringRun {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Trials whose record describes the host, in their order.
    pub trials: Vec<HostDuringTrial>,
    /// Facts that were not the same in all readings.
    pub changed: Vec<ChangedFact>,
    /// What could not be read, each once with its reason.
    pub unavailable: Vec<UnavailableFact>,
}

/// Plain readings of one trial's window. Shares are of the host's CPUs or of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostDuringTrial {
    pub trial: u32,
    pub contender: String,
    pub frequency_mhz: Option<f64>,
    pub busy: Option<f64>,
    pub stolen: Option<f64>,
    /// The share of processes that are not ours.
    pub others: Option<f64>,
    /// Bytes per second that those processes read from disks and wrote to them.
    pub others_disk: Option<f64>,
    pub memory_stalled: Option<f64>,
    pub swapped_pages: Option<u64>,
    pub available_bytes: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFact {
    pub fact: HostFact,
    /// The values that were read, with the trials in whose window each was read.
    pub values: Vec<(String, Vec<u32>)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnavailableFact {
    pub fact: HostFact,
    pub why: String,
}

/// A trial and the state of its host.
type Described<'a> = (&'a TrialRecord, &'a HostState);

pub fn of_run(run: &Run) -> HostDuringRun {
    let known: Vec<Described<'_>> =
        run.trials.iter().filter_map(|trial| Some((&trial.record, trial.record.host_state.as_ref()?))).collect();
    HostDuringRun {
        total_bytes: run.host.get("memory.total_bytes").and_then(machines::known).and_then(|bytes| bytes.parse().ok()),
        trials: known.iter().copied().map(during).collect(),
        changed: changed(&known),
        unavailable: unavailable(&known),
    }
}

fn during((record, state): Described<'_>) -> HostDuringTrial {
    let (start, end) = (&state.start, &state.end);
    let cpu = start.cpu.known().zip(end.cpu.known());
    let cpu_use = cpu.and_then(|(start, end)| CpuUse::between(*start, *end));
    let span_us = state.span_ns() as f64 / 1e3;
    let stalled = start.stalls.known().zip(end.stalls.known());
    let stalled = stalled.map(|(start, end)| end.memory_us.saturating_sub(start.memory_us) as f64);
    let swapped = |start: &HostMemory, end: &HostMemory| {
        end.swapped_in_pages.saturating_sub(start.swapped_in_pages)
            + end.swapped_out_pages.saturating_sub(start.swapped_out_pages)
    };
    let processes = start.processes.known().zip(end.processes.known());
    let others_disk =
        processes.and_then(|(start, end)| Some(end.others_disk_bytes?.saturating_sub(start.others_disk_bytes?) as f64));
    let frequency = start.frequency_khz.known().zip(end.frequency_khz.known());
    let share = |part: Option<f64>, whole: Option<f64>| Some(part? / whole.filter(|whole| *whole > 0.0)?);
    HostDuringTrial {
        trial: record.id,
        contender: record.contender.clone(),
        frequency_mhz: frequency.map(|(start, end)| start.midpoint(*end) as f64 / 1e3),
        busy: cpu_use.map(|cpu| cpu.busy),
        stolen: cpu_use.map(|cpu| cpu.stolen),
        others: state.others().known().copied(),
        others_disk: share(others_disk, Some(span_us / 1e6)),
        memory_stalled: share(stalled, Some(span_us)),
        swapped_pages: start.memory.known().zip(end.memory.known()).map(|(start, end)| swapped(start, end)),
        available_bytes: end.memory.known().map(|memory| memory.available_bytes),
    }
}

impl HostDuringRun {
    /// Whether so much memory was available at the end of the trial that the host itself was not short of it.
    pub fn has_enough(&self, trial: &HostDuringTrial) -> bool {
        let known = self.total_bytes.zip(trial.available_bytes);
        known.is_some_and(|(total, available)| available as f64 >= AVAILABLE_ENOUGH * total as f64)
    }

    /// The finding as it is about these trials alone, with their worst value.
    pub fn narrowed(&self, finding: &Finding, own: &BTreeSet<u32>) -> Finding {
        let concerned =
            || self.trials.iter().filter(|one| own.contains(&one.trial) && finding.subject.trials.contains(&one.trial));
        let most = |of: fn(&HostDuringTrial) -> Option<f64>| concerned().filter_map(of).reduce(f64::max);
        let what = match &finding.what {
            What::HostCpuStolen { .. } => most(|one| one.stolen).map(|share| What::HostCpuStolen { share }),
            What::HostBusy { .. } => most(|one| one.others).map(|share| What::HostBusy { share }),
            What::HostMemoryShort { .. } => most(|one| one.memory_stalled).map(|share| What::HostMemoryShort { share }),
            _ => None,
        };
        let Some(what) = what else { return finding.clone() };
        let subject = Subject { trials: concerned().map(|trial| trial.trial).collect(), ..finding.subject.clone() };
        Finding { what, subject, ..finding.clone() }
    }
}

/// A fact whose value is text.
type TextFact = (HostFact, fn(&HostReading) -> &Reading<String>);

const FACTS: [TextFact; 3] = [
    (HostFact::Governor, |reading| &reading.governor),
    (HostFact::Turbo, |reading| &reading.turbo),
    (HostFact::Mitigations, |reading| &reading.mitigations),
];

fn readings(state: &HostState) -> [&HostReading; 2] {
    [&state.start, &state.end]
}

fn changed(known: &[Described<'_>]) -> Vec<ChangedFact> {
    let of_fact = |(name, fact): TextFact| {
        let texts = known.iter().flat_map(|(record, state)| {
            readings(state).into_iter().filter_map(move |reading| Some((fact(reading).known()?.clone(), record.id)))
        });
        let values: BTreeMap<String, BTreeSet<u32>> = by_key(texts);
        let values = values.into_iter().map(|(text, trials)| (text, trials.into_iter().collect()));
        ChangedFact { fact: name, values: values.collect() }
    };
    FACTS.into_iter().map(of_fact).filter(|fact| fact.values.len() > 1).collect()
}

fn unavailable(known: &[Described<'_>]) -> Vec<UnavailableFact> {
    let reasons = known.iter().flat_map(|(_, state)| readings(state)).flat_map(|reading| {
        let texts = FACTS.map(|(name, fact)| (name, fact(reading).why_not()));
        let numbers = [
            (HostFact::Frequency, reading.frequency_khz.why_not()),
            (HostFact::CpuTime, reading.cpu.why_not()),
            (HostFact::ProcessTime, reading.processes.why_not()),
            (HostFact::Memory, reading.memory.why_not()),
            (HostFact::Stalls, reading.stalls.why_not()),
        ];
        texts.into_iter().chain(numbers)
    });
    distinct(reasons.filter_map(|(fact, why)| Some(UnavailableFact { fact, why: why?.to_owned() })))
}

pub fn findings(host: &HostDuringRun) -> Vec<Finding> {
    let mut findings: Vec<Finding> = host.changed.iter().map(told_of_change).collect();
    let trials = &host.trials;
    findings.extend(beyond(trials, STOLEN_MAX, |trial| trial.stolen, |share| What::HostCpuStolen { share }));
    findings.extend(beyond(trials, OTHERS_MAX, |trial| trial.others, |share| What::HostBusy { share }));
    // Other load that hits one contender and spares another is not noise: it is in the ratio.
    let of_cpus = |[(loud, most), (quiet, least)]: [_; 2]| What::HostBusyBesideOne { loud, most, quiet, least };
    findings.extend(beside_one(trials, OTHERS_MAX, |trial| trial.others, of_cpus));
    let of_disks = |[(loud, most), (quiet, least)]: [_; 2]| What::HostDiskBusyBesideOne { loud, most, quiet, least };
    findings.extend(beside_one(trials, OTHERS_DISK_MAX, |trial| trial.others_disk, of_disks));
    let stalled = |trial: &HostDuringTrial| trial.memory_stalled.filter(|_| !host.has_enough(trial));
    findings.extend(beyond(trials, MEMORY_STALLS_MAX, stalled, |share| What::HostMemoryShort { share }));
    let swapped = |trial: &HostDuringTrial| trial.swapped_pages.map(|pages| pages as f64);
    findings.extend(beyond(trials, SWAPPED_MAX, swapped, |pages| What::HostSwapping { pages }));
    findings.extend(frequencies(trials));
    findings
}

fn told_of_change(fact: &ChangedFact) -> Finding {
    let in_trials = |(value, trials): &(String, Vec<u32>)| InTrials { value: value.clone(), trials: trials.clone() };
    let values = fact.values.iter().map(in_trials).collect();
    Finding::new(What::HostChanged { fact: fact.fact, values })
}

/// On the contenders with the highest and the lowest mean, if they differ by more than this and by half.
fn beside_one(
    trials: &[HostDuringTrial],
    apart: f64,
    of: impl Fn(&HostDuringTrial) -> Option<f64>,
    what: impl Fn([(String, f64); 2]) -> What,
) -> Option<Finding> {
    let values = trials.iter().filter_map(|trial| Some((trial.contender.as_str(), of(trial)?)));
    let mean = |(name, values): (&str, Vec<f64>)| (name.to_owned(), mean_of(&values));
    let [quietest, loudest] = least_and_most(&by_key(values).into_iter().map(mean).collect::<Vec<_>>())?;
    let is_beside_one = loudest.1 - quietest.1 > apart && loudest.1 > 2.0 * quietest.1;
    is_beside_one.then(|| Finding::new(what([loudest, quietest])))
}

fn least_and_most<T: Clone>(values: &[(T, f64)]) -> Option<[(T, f64); 2]> {
    let by_value = |one: &&(T, f64), other: &&(T, f64)| one.1.total_cmp(&other.1);
    Some([values.iter().min_by(by_value)?.clone(), values.iter().max_by(by_value)?.clone()])
}

/// One caution for all trials in which this is more than `most`, with the worst value.
fn beyond(
    trials: &[HostDuringTrial],
    most: f64,
    of: impl Fn(&HostDuringTrial) -> Option<f64>,
    what: impl Fn(f64) -> What,
) -> Option<Finding> {
    let found = trials.iter().filter_map(|trial| Some((trial.trial, of(trial).filter(|value| *value > most)?)));
    let found: Vec<(u32, f64)> = found.collect();
    let worst = found.iter().map(|(_, value)| *value).reduce(f64::max)?;
    Some(Finding::new(what(worst)).in_trials(found.iter().map(|(trial, _)| *trial)))
}

fn frequencies(trials: &[HostDuringTrial]) -> Option<Finding> {
    let known: Vec<_> = trials.iter().filter_map(|trial| Some((trial.trial, trial.frequency_mhz?))).collect();
    let [(slow_trial, low_mhz), (fast_trial, high_mhz)] = least_and_most(&known)?;
    (high_mhz > low_mhz * FREQUENCY_RATIO_MAX)
        .then(|| Finding::new(What::HostFrequency { slow_trial, low_mhz, fast_trial, high_mhz }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::host_state::{PressureStalls, ProcessTimes};
    use record::ladder::CpuTime;
    use record::synthetic;

    fn state(run: &mut Run, index: usize) -> &mut HostState {
        run.trials[index].record.host_state.as_mut().unwrap()
    }

    /// Of 4,800 ticks in 24 seconds others used 480, and a hypervisor stole 96; 1.2 seconds of stalls are 5 %.
    #[test]
    fn shares_are_of_all_cpus_and_of_the_window() {
        let mut run = synthetic::run(3);
        let state = state(&mut run, 1);
        state.start.cpu = Reading::Known(CpuTime { busy_ticks: 10, idle_ticks: 20, ..CpuTime::default() });
        let end = CpuTime {
            busy_ticks: 3_610,
            idle_ticks: 1_120,
            waiting_ticks: 100,
            stolen_ticks: 96,
            interrupt_ticks: None,
        };
        state.end.cpu = Reading::Known(end);
        state.start.processes = Reading::Known(ProcessTimes { others_ticks: 20, ..ProcessTimes::default() });
        state.end.processes = Reading::Known(ProcessTimes { others_ticks: 500, ..ProcessTimes::default() });
        state.end.stalls = Reading::Known(PressureStalls { memory_us: 1_200_000, ..PressureStalls::default() });
        let little = HostMemory { available_bytes: 1_000_000_000, ..HostMemory::default() };
        state.end.memory = Reading::Known(little);
        let found = of_run(&run);
        let trial = &found.trials[1];
        let shares = [trial.busy, trial.stolen, trial.others, trial.memory_stalled].map(Option::unwrap);
        for (found, expected) in shares.into_iter().zip([0.75, 0.02, 0.1, 0.05]) {
            assert!((found - expected).abs() < 1e-9, "{trial:?}");
        }
        let told = findings(&found);
        let shares: Vec<(&str, f64)> = told
            .iter()
            .map(|finding| match finding.what {
                What::HostCpuStolen { share } | What::HostBusy { share } | What::HostMemoryShort { share } => {
                    (finding.what.kind().name, share)
                }
                ref other => panic!("{other:?}"),
            })
            .collect();
        let codes: Vec<&str> = shares.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, ["host-cpu-stolen", "host-busy", "host-memory-short"]);
        for ((_, found), expected) in shares.iter().zip([0.02, 0.1, 0.05]) {
            assert!((found - expected).abs() < 1e-9, "{shares:?}");
        }
        assert!(told.iter().all(|finding| finding.subject.trials == [2]), "{told:?}");
    }

    #[test]
    fn a_machine_at_its_own_limit_does_not_make_the_host_short_of_memory() {
        let told = |available_bytes: Option<u64>| {
            let mut run = synthetic::run(3);
            let state = state(&mut run, 1);
            state.end.stalls = Reading::Known(PressureStalls { memory_us: 9_600_000, ..PressureStalls::default() });
            state.end.memory = match available_bytes {
                Some(available_bytes) => Reading::Known(HostMemory { available_bytes, ..HostMemory::default() }),
                None => Reading::Unavailable("no right".to_owned()),
            };
            named(&run, "host-memory-short").is_some()
        };
        assert_eq!([Some(22_000_000_000), Some(2_000_000_000), None].map(told), [false, true, true]);
    }

    #[test]
    fn a_finding_is_narrowed_to_some_of_its_trials() {
        let mut run = synthetic::run(3);
        for (index, others_ticks) in [(0, 400), (1, 960)] {
            let state = state(&mut run, index);
            state.start.cpu = Reading::Known(CpuTime::default());
            state.end.cpu = Reading::Known(CpuTime { busy_ticks: 1_000, idle_ticks: 1_000, ..CpuTime::default() });
            state.start.processes = Reading::Known(ProcessTimes::default());
            state.end.processes = Reading::Known(ProcessTimes { others_ticks, ..ProcessTimes::default() });
        }
        let finding = named(&run, "host-busy").unwrap();
        assert_eq!((&finding.what, &*finding.subject.trials), (&What::HostBusy { share: 0.48 }, &[1, 2][..]));
        let narrowed = of_run(&run).narrowed(&finding, &[1, 3].into());
        assert_eq!((&narrowed.what, &*narrowed.subject.trials), (&What::HostBusy { share: 0.2 }, &[1][..]));
        assert_eq!(of_run(&run).narrowed(&finding, &[3].into()), finding);
    }

    fn named(run: &Run, kind: &str) -> Option<Finding> {
        findings(&of_run(run)).into_iter().find(|found| found.what.kind().name == kind)
    }

    #[test]
    fn load_beside_one_contender_only_is_serious() {
        let told = |ticks: fn(&str) -> u64| {
            let mut run = synthetic::run(3);
            for trial in &mut run.trials {
                let others_ticks = ticks(&trial.record.contender);
                let state = trial.record.host_state.as_mut().unwrap();
                state.start.cpu = Reading::Known(CpuTime::default());
                state.end.cpu = Reading::Known(CpuTime { busy_ticks: 500, idle_ticks: 500, ..CpuTime::default() });
                state.start.processes = Reading::Known(ProcessTimes::default());
                state.end.processes = Reading::Known(ProcessTimes { others_ticks, ..ProcessTimes::default() });
            }
            named(&run, "host-busy-beside-one")
        };
        let what = told(|contender| if contender == "native" { 10 } else { 400 }).unwrap().what;
        let What::HostBusyBesideOne { most, quiet, least, .. } = &what else { panic!("{what:?}") };
        assert!((most - 0.4).abs() < 1e-9 && (least - 0.01).abs() < 1e-9 && quiet == "native", "{what:?}");
        assert_eq!(told(|_| 400), None, "that is a caution");
        assert_eq!(told(|contender| if contender == "native" { 10 } else { 40 }), None);
    }

    #[test]
    fn a_disk_that_others_use_beside_one_contender_only_is_named() {
        let told = |bytes: fn(&str) -> Option<u64>| {
            let mut run = synthetic::run(3);
            for trial in &mut run.trials {
                let others_disk_bytes = bytes(&trial.record.contender);
                let state = trial.record.host_state.as_mut().unwrap();
                let read =
                    |others_disk_bytes| Reading::Known(ProcessTimes { others_disk_bytes, ..ProcessTimes::default() });
                (state.start.processes, state.end.processes) = (read(Some(0)), read(others_disk_bytes));
            }
            named(&run, "host-disk-busy-beside-one")
        };
        let what = told(|contender| Some(if contender == "native" { 9_000 } else { 2_400_000_000 })).unwrap().what;
        let What::HostDiskBusyBesideOne { most, quiet, .. } = &what else { panic!("{what:?}") };
        assert!(*most > 1e7 && quiet == "native", "{what:?}");
        assert_eq!(told(|_| Some(2_400_000_000)), None, "it is beside both");
        assert_eq!(told(|contender| (contender == "native").then_some(2_400_000_000)), None, "unknown is not 0");
    }

    #[test]
    fn a_quiet_host_is_not_mentioned_and_what_it_does_not_say_is_told_once() {
        let found = of_run(&synthetic::run(3));
        assert_eq!((findings(&found), found.trials.len()), (Vec::new(), 6));
        let why = "the kernel offers no frequency scaling here".to_owned();
        assert_eq!(found.unavailable, [UnavailableFact { fact: HostFact::Governor, why }]);
    }

    #[test]
    fn a_setting_that_changed_in_between_is_serious() {
        let mut run = synthetic::run(3);
        state(&mut run, 4).end.turbo = Reading::Known("off".to_owned());
        let value = |value: &str, trials: &[u32]| InTrials { value: value.to_owned(), trials: trials.to_vec() };
        let values = vec![value("off", &[5]), value("on", &[1, 2, 3, 4, 5, 6])];
        let expected = Finding::new(What::HostChanged { fact: HostFact::Turbo, values });
        assert_eq!(findings(&of_run(&run)), [expected]);
    }

    #[test]
    fn other_clocks_and_swapping_are_told() {
        let mut run = synthetic::run(3);
        let memory = HostMemory { swapped_out_pages: 5_000, ..HostMemory::default() };
        state(&mut run, 0).end.memory = Reading::Known(memory);
        let slow = state(&mut run, 2);
        (slow.start.frequency_khz, slow.end.frequency_khz) = (Reading::Known(2_000_000), Reading::Known(2_200_000));
        let told = findings(&of_run(&run));
        assert_eq!(told[0].what, What::HostSwapping { pages: 5_000.0 });
        assert!(
            matches!(told[1].what, What::HostFrequency { slow_trial: 3, low_mhz, high_mhz, .. }
            if (low_mhz - 2_100.0).abs() < 1e-9 && (high_mhz - 3_200.0).abs() < 1.0),
            "{told:?}"
        );
    }

    #[test]
    fn old_records_say_nothing() {
        let mut run = synthetic::run(1);
        run.trials.iter_mut().for_each(|trial| trial.record.host_state = None);
        assert_eq!(HostDuringRun { total_bytes: None, ..of_run(&run) }, HostDuringRun::default());
    }
}
