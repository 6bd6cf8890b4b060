//! Made-up studies of one, two and three machines, and rows of figures with scores computed elsewhere.

use super::skew::StartsApart;
use super::*;
use crate::contrast::Position;
use crate::findings::{Property, Severity};
use crate::measures::machines::FAIRNESS;
use crate::measures::{self, Better, Measure, MeasureEntry, Scale, Unit};
use crate::missing::Missing;
use crate::observations::{MeasuredValues, Observation};
use record::check::Verdict;
use record::facts::Fact;
use record::script::{PhaseDone, PhaseEnd};
use record::synthetic::consolidated::{self, HeldBack};
use serde_json::json;
use std::sync::LazyLock;

const SECOND_IS_HELD_BACK: HeldBack = HeldBack { contender: "kvm", machine: 2 };

/// Made only once, since that takes longer than the tests that use it.
static MADE_UP: LazyLock<Run> = LazyLock::new(|| consolidated::run(5, Some(SECOND_IS_HELD_BACK)));

fn held_back() -> Run {
    MADE_UP.clone()
}

pub fn all_of(run: &Run) -> Vec<Consolidation> {
    all(run, &observed(run))
}

fn observed(run: &Run) -> Observations {
    Observations::of_run(run, &[measures::throughput::readings as MeasureEntry, measures::machines::readings])
}

fn of_kvm(run: &Run, machines: usize) -> Consolidation {
    let found = all_of(run);
    found.into_iter().find(|one| one.contender == "kvm" && one.machines == machines).unwrap()
}

#[track_caller]
fn close(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "found {found}, expected {expected}");
}

fn readings_of(rows: &[[f64; 3]]) -> Vec<TrialReadings> {
    let trial = |(block, row): (u32, &[f64; 3])| TrialReadings {
        trial: block,
        block,
        machines: (1..).zip(*row).collect(),
        together: of(row).unwrap(),
    };
    (1..).zip(rows).map(trial).collect()
}

const ROWS: [[f64; 3]; 5] =
    [[100.0, 52.0, 104.0], [98.0, 50.0, 99.0], [103.0, 55.0, 101.0], [97.0, 51.0, 100.0], [101.0, 53.0, 98.0]];

/// With `Y` these rows (scipy 1.17.1): `gmean(Y.min(1))` with `t.interval` of its logarithms; Jain's index of each row with
/// `t.interval`.
#[test]
fn scores_are_those_of_scipy() {
    let level = |scale: Scale, of: fn(&SideBySide) -> f64| {
        let measure = Measure { id: "score".to_owned(), unit: Unit::Count, better: Better::More, scale };
        let observation = |trial: TrialReadings| Observation {
            trial: trial.trial,
            block: trial.block,
            cell: 0,
            machine: None,
            value: Some(of(&trial.together)),
            why_none: None,
            n: None,
        };
        let observations = readings_of(&ROWS).into_iter().map(observation).collect();
        MeasuredValues { measure, observations }.level(0).unwrap().estimate
    };
    let minimum = level(Scale::Ratio, |trial| trial.minimum);
    close(minimum.point, 52.171_871_583_770_9, 1e-9);
    let (low, high) = minimum.bounds.known().unwrap();
    close(low, 49.851_561_62, 1e-4);
    close(high, 54.600_178_93, 1e-4);
    let fairness = level(Scale::Proportion, |trial| trial.fairness);
    close(fairness.point, 0.932_565_766_046_893_8, 1e-12);
    let (low, high) = fairness.bounds.known().unwrap();
    close(low, 0.927_152_149_166_321_6, 1e-7);
    close(high, 0.937_979_382_927_466, 1e-7);
}

/// `r = Y[:, 1] / ((Y[:, 0] + Y[:, 2]) / 2)`, its geometric mean, and `t.ppf(1 - 0.05 / 3 / 2, 4)` standard errors of its
/// logarithms; the share is `Y[:, 1] / Y.sum(1)`.
#[test]
fn the_machine_in_the_middle_is_held_back_with_the_interval_of_scipy() {
    let slots = slots::all(&readings_of(&ROWS), |_| [None, None]);
    let middle = &slots[1];
    let of_others = middle.of_others.as_ref().unwrap();
    close(of_others.point, 0.521_263_408_575_495_4, 1e-12);
    let (low, high) = of_others.bounds.known().unwrap();
    close(low, 0.497_157_893_209_874_6, 1e-7);
    close(high, 0.546_537_719_366_027_4, 1e-7);
    let share = middle.share.as_ref().unwrap();
    close(share.point, 0.206_774_396_751_123_23, 1e-12);
    close(share.bounds.known().unwrap().0, 0.201_320_493_019_838_3, 1e-7);
    assert_eq!((middle.position, middle.held_back, middle.least_in), (Position::Below, true, 5));
    assert_eq!(slots.iter().map(|slot| slot.machine).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(slots[0].position == Position::Above && slots[0].least_in == 0);
}

#[test]
fn a_machine_held_back_in_every_trial_is_named_and_no_other() {
    let run = held_back();
    let three = of_kvm(&run, 3);
    let positions: Vec<(Position, bool)> = three.slots.iter().map(|slot| (slot.position, slot.held_back)).collect();
    let more = (Position::Above, false);
    assert_eq!(positions, [more, (Position::Below, true), more]);
    assert_eq!(three.slots[1].least_in, 5);
    close(three.slots[1].of_others.as_ref().unwrap().point, 0.55, 0.02);
    assert_eq!(three.chance.unwrap().minimum, Position::Below);
    let native = all_of(&run).into_iter().find(|one| one.contender == "native" && one.machines == 3).unwrap();
    assert!(native.slots.iter().all(|slot| slot.position == Position::Across), "{:#?}", native.slots);
    assert_eq!(native.chance.unwrap().minimum, Position::Across);
    assert!(observed(&run).level(FAIRNESS, native.cell).unwrap().estimate.point > 0.999);
}

/// A host gives 0.95² of itself to three machines; one of them does 0.55 of its share.
#[test]
fn machines_are_held_against_one_alone_and_the_sum_against_the_host() {
    let three = of_kvm(&held_back(), 3);
    assert_eq!(three.alone.as_ref().map(|alone| alone.coordinates.as_str()), Some("1x2"));
    close(three.slots[0].of_alone.as_ref().unwrap().point, 0.9025 / 3.0, 0.01);
    close(three.minimum_of_alone.unwrap().point, 0.9025 / 3.0 * 0.55, 0.01);
    assert_eq!(three.of_baseline.as_ref().map(|one| one.contender.as_str()), Some("native"));
    close(three.slots[0].of_baseline.as_ref().unwrap().point, 0.853 * 0.9025 / 3.0, 0.01);
    close(three.slots[1].of_baseline.as_ref().unwrap().point, 0.853 * 0.9025 / 3.0 * 0.55, 0.01);
    let efficiency = three.efficiency.unwrap();
    close(efficiency.value.point, 0.9025 * 2.55 / 3.0, 0.02);
    assert_eq!((efficiency.reference.contender.as_str(), efficiency.same_total), ("kvm", false));
    assert!(efficiency.value.bounds.known().is_some());
}

/// Two machines with one vCPU and half the memory each, rounded down, are compared with the baseline's one machine of two.
#[test]
fn the_whole_is_the_baselines_machine_of_the_same_total() {
    let mut run = held_back();
    for cell in run.plan.cells.iter_mut().filter(|cell| cell.machines() == 2) {
        cell.settings.set("machine.vcpus", json!(1)).unwrap();
        cell.settings.set("machine.memory", json!(1_060_000_000_u64)).unwrap();
    }
    let two = of_kvm(&run, 2);
    assert_eq!((two.alone, two.vcpus), (None, Some(1)), "no cell has one such machine alone");
    let efficiency = two.efficiency.unwrap();
    assert_eq!((efficiency.reference.contender.as_str(), efficiency.same_total), ("native", true));
    close(efficiency.value.point, 0.853 * 0.95 * 1.55 / 2.0, 0.02);
    assert_eq!(two.of_baseline, Some(efficiency.reference));
}

#[test]
fn a_study_without_single_machines_has_no_reference() {
    let mut run = held_back();
    run.trials.retain(|trial| !trial.machines.is_empty());
    let three = of_kvm(&run, 3);
    assert_eq!((three.alone, three.efficiency, three.minimum_of_alone), (None, None, None));
    assert_eq!((three.of_baseline, three.slots[0].of_baseline.clone()), (None, None));
    assert!(three.minimum.is_some());
}

/// Each machine of the made-up study begins 1.5 ms after the one before it.
#[test]
fn windows_that_lie_apart_are_told() {
    let mut run = held_back();
    let three = of_kvm(&run, 3);
    assert!(three.skew.iter().all(|skew| (skew.worst_ms().unwrap() - 3.0).abs() < 1e-9), "{:?}", three.skew);
    assert_eq!(findings(&[three]), []);
    let trial = run.trials.iter_mut().find(|trial| trial.machines.len() == 3 && trial.record.contender == "kvm");
    let trial = trial.unwrap();
    // A clock that is 80 ms ahead puts the same moment 80 ms earlier on the host's clock.
    let clock = &mut trial.machines[2].record.machine.as_mut().unwrap().clock;
    for reading in clock {
        reading.offset_ns += 80_000_000;
    }
    let number = trial.record.id;
    let three = of_kvm(&run, 3);
    let told = findings(&[three]);
    assert_eq!((told.len(), told[0].severity), (1, Severity::Caution));
    assert!(matches!(told[0].what, What::WindowsApart { worst_ms } if (worst_ms - 78.5).abs() < 0.1), "{told:?}");
    assert_eq!(told[0].subject.trials, [number]);
}

/// Only the starts of their phases are compared, and lengths are not.
#[test]
fn machines_may_be_done_at_different_times_if_their_load_ends_with_its_work() {
    let mut run = held_back();
    let of_three = |trial: &&mut StoredTrial| trial.machines.len() == 3 && trial.record.contender == "kvm";
    let phase = |start_ms, measured_ms| PhaseDone {
        name: String::new(),
        start_ms,
        warmup_ms: 0,
        measured_ms,
        ended: PhaseEnd::Streams,
        streams: Vec::new(),
        kinds: Vec::new(),
    };
    for (number, machine) in run.trials.iter_mut().filter(of_three).flat_map(|trial| (1..).zip(&mut trial.machines)) {
        let driver = machine.record.driver.as_mut().unwrap();
        (driver.warmup_ms, driver.measured_ms) = (0, 20_000 + number * 1_000);
        driver.phases = vec![phase(0, 10_000 + number * 1_000), phase(20_000, 10_000)];
    }
    let trial = run.trials.iter_mut().find(of_three).unwrap();
    let told = skew::of_trial(trial).apart;
    assert!(matches!(told, StartsApart::Known { start_ms, end_ms: None, .. } if start_ms < 5.0), "{told:?}");
    assert_eq!(unlike::of_trial(trial), None);
    let with_memory = |bytes: [u64; 3]| {
        let mut trial = trial.clone();
        for (machine, bytes) in trial.machines.iter_mut().zip(bytes) {
            let facts = machine.record.machine.as_mut().unwrap();
            facts.inside.insert("memory.total_bytes".to_owned(), Fact::known(bytes.to_string()));
        }
        unlike::of_trial(&trial).map(|unlike| unlike.properties.len())
    };
    assert_eq!(with_memory([491_786_240, 491_790_336, 491_786_240]), None, "a page more");
    assert_eq!(with_memory([491_786_240, 495_790_336, 491_786_240]), Some(1));
}

#[test]
fn machines_that_differ_are_told_with_what_differs() {
    let mut run = held_back();
    let trial = run.trials.iter_mut().find(|trial| trial.machines.len() == 3 && trial.record.contender == "kvm");
    let exception = &mut trial.unwrap().machines[1];
    let machine = exception.record.machine.as_mut().unwrap();
    machine.image = "micro 00000000".to_owned();
    machine.decided.insert("slot".to_owned(), Fact::known("another"));
    machine.inside.insert("cpu.threads".to_owned(), Fact::known("1"));
    let effective = &mut exception.record.server.as_mut().unwrap().effective;
    effective.insert("synchronous".to_owned(), "1".to_owned());
    effective.insert("port".to_owned(), "5433".to_owned());
    let sum = exception.findings.iter_mut().find(|finding| finding.checksum_of() == Some("stock")).unwrap();
    sum.verdict = Verdict::Holds { seen: Some("7 rows".to_owned()) };
    let three = of_kvm(&run, 3);
    let in_words = |property: &Property| {
        let values = property.values.iter().map(|one| format!("{} {:?}", one.value, one.machines));
        format!("{}: {}", property.name, values.collect::<Vec<_>>().join(", "))
    };
    assert_eq!(
        three.unlike[0].properties.iter().map(in_words).collect::<Vec<_>>(),
        [
            "cpu.threads: 1 [2], 2 [1, 3]",
            "image: micro 00000000 [2], micro 1f6d2c9a [1, 3]",
            "setting/synchronous: 1 [2], 2 [1, 3]",
            "table/stock: 200000 rows, checksum 50b91db7da4f671d [1, 3], 7 rows [2]",
        ]
    );
    let told = findings(&[three]);
    assert_eq!((told.len(), told[0].severity), (1, Severity::Serious));
    assert_eq!((told[0].subject.contender.as_deref(), told[0].subject.coordinates.as_str()), (Some("kvm"), "3x2"));
    assert!(of_kvm(&held_back(), 3).unlike.is_empty());
}

#[test]
fn a_machine_that_counted_nothing_leaves_its_trial_out_and_is_named() {
    let mut run = held_back();
    let trial = run.trials.iter_mut().find(|trial| trial.machines.len() == 3 && trial.record.contender == "kvm");
    let trial = trial.unwrap();
    let still = &mut trial.machines[0].record.driver.as_mut().unwrap().kinds[0];
    (still.committed, still.rolled_back) = (0, 0);
    let number = trial.record.id;
    let three = of_kvm(&run, 3);
    assert_eq!(three.trials.len(), 4);
    assert_eq!(three.left_out, [Missing::NothingDone.of_machine(1).of_trial(number)]);
    assert!(matches!(&findings(&[three])[0].what, What::TrialsLeftOut { beside: None, why } if why.len() == 1));
}

/// Three machines of one contender against one of the other: the ratio is that of a minimum to a single machine's figure.
#[test]
fn a_ratio_of_different_numbers_of_machines_says_so() {
    let mut run = held_back();
    run.plan.cells.retain(|cell| (cell.contender == "kvm") == (cell.machines() == 3) && cell.machines() != 2);
    for cell in &mut run.plan.cells {
        cell.scenario = None;
    }
    let ids: Vec<u32> = run.plan.cells.iter().map(|cell| cell.id).collect();
    run.trials.retain(|trial| ids.contains(&trial.record.cell));
    let comparison = crate::summary::analyse(&run).comparisons.remove(0);
    assert_eq!(comparison.metric.name, "NOPM, minimum of 3 over one machine's");
    let ratio = comparison.throughput().unwrap().clone();
    close(ratio.estimate.point, 0.853 * 0.9025 / 3.0 * 0.55, 0.01);
}

/// The bystander stops in the middle of the trial: it only disturbs the others, so it cannot be the worst-off machine.
#[test]
fn a_bystander_has_no_part_in_the_scores() {
    let mut run = held_back();
    for trial in run.trials.iter_mut().filter(|trial| trial.machines.len() == 3) {
        trial.bystander = Some(2);
    }
    let three = all_of(&run).into_iter().find(|one| one.contender == "kvm" && one.coordinates == "3x2").unwrap();
    assert_eq!((three.machines, three.slots.iter().map(|slot| slot.machine).collect::<Vec<_>>()), (2, vec![1, 3]));
    assert!(three.slots.iter().all(|slot| slot.position == Position::Across), "{:#?}", three.slots);
    close(three.minimum_of_alone.unwrap().point, 0.9025 / 3.0, 0.015);
}

#[test]
fn studies_of_one_machine_have_none_and_the_order_of_trials_does_not_matter() {
    assert_eq!(all_of(&record::synthetic::run(3)), []);
    let run = held_back();
    let mut shuffled = run.clone();
    shuffled.trials.reverse();
    let (one, other) = (of_kvm(&run, 3), of_kvm(&shuffled, 3));
    assert!(one.minimum == other.minimum && one.slots == other.slots && one.efficiency == other.efficiency);
    assert!(one.chance == other.chance);
}
