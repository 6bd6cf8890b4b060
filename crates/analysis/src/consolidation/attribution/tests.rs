//! Made-up studies in which one thing matters, or nothing does, and figures computed elsewhere.

use super::labels::MachinePlace;
use super::*;
use crate::contrast::Position;
use crate::missing::Missing;
use record::facts::Fact;
use record::facts::{HOST_CPUS, PLACE, START_ORDER};
use record::rotation::Rotation;
use record::synthetic::Chance;
use record::synthetic::consolidated::{self, OwedTo};

/// What a machine gets in a block: block, machine, place and start, all counted from 1.
type MadeUpRate<'a> = dyn FnMut([u32; 4]) -> f64 + 'a;

/// One host with as many CPUs as machines, in this many blocks of the design.
fn studied(machines: u32, blocks: u32, rate: &mut MadeUpRate<'_>) -> Vec<MachineReading> {
    let mut readings = Vec::new();
    for block in 1..=blocks {
        let rotation = Rotation::of_block(block, machines);
        for machine in 1..=machines {
            let (place, start) = (rotation.place(machine, machines), rotation.start(machine, machines));
            readings.push(MachineReading {
                trial: block,
                block,
                machine,
                rate: rate([block, machine, place, start]),
                place: MachinePlace::of_cpus(&(place - 1).to_string(), &Topology::default()),
                start: Some(start),
            });
        }
    }
    readings
}

/// The attribution for these rates, one row for each block.
fn of_rows<const MACHINES: usize>(rows: &[[f64; MACHINES]]) -> Attribution {
    let (machines, blocks) = (u32::try_from(MACHINES).unwrap(), u32::try_from(rows.len()).unwrap());
    let rate = &mut |[block, machine, _, _]: [u32; 4]| rows[block as usize - 1][machine as usize - 1];
    of_readings(&studied(machines, blocks, rate)).unwrap()
}

fn label(found: &Attribution, kind: LabelKind) -> &LabelAttribution {
    found.labels.iter().find(|label| label.label == kind).unwrap_or_else(|| panic!("{kind:?} in {found:#?}"))
}

fn positions(found: &Attribution, kind: LabelKind) -> Vec<Position> {
    label(found, kind).levels.iter().map(|level| level.position).collect()
}

#[track_caller]
fn assert_estimate(found: &Estimate, point: f64, low: f64, high: f64) {
    let close = |one: f64, other: f64| (one - other).abs() < 1e-7;
    let (found_low, found_high) = found.bounds.known().unwrap();
    assert!(close(found.point, point) && close(found_low, low) && close(found_high, high), "{found:?}");
}

/// `smf.ols("y ~ C(block) + C(machine, Sum) + C(place, Sum) + C(start, Sum)")` of the logarithms (statsmodels 0.15.0),
/// a `t_test` of each effect minus the mean of the others, and `scipy.stats.t.ppf(1 - 0.05 / 9 / 2, 4)` standard errors
/// to either side. `seen` is the geometric mean of the blocks' ratios with `t.ppf(1 - 0.05 / 3 / 2, 4)`.
#[test]
fn effects_are_those_of_statsmodels() {
    let found = of_rows(&[
        [96.3, 76.0, 94.6],
        [76.0, 96.7, 94.1],
        [96.4, 96.9, 81.6],
        [102.5, 78.9, 102.0],
        [82.7, 104.5, 104.8],
    ]);
    let effect = |kind: LabelKind, level: usize| label(&found, kind).levels[level].effect.clone().unwrap();
    let (machine, place, start) = (LabelKind::Machine, LabelKind::Place, LabelKind::StartOrder);
    assert_estimate(&effect(machine, 1), 0.997_169_988_129_150_6, 0.930_740_761_988_315_3, 1.068_340_429_295_577_5);
    assert_estimate(&effect(place, 0), 1.122_628_655_867_928_6, 1.047_841_654_914_612_8, 1.202_753_386_510_991_2);
    assert_estimate(&effect(place, 1), 0.800_261_119_253_691_6, 0.746_949_519_932_136_2, 0.857_377_696_751_657_5);
    assert_estimate(&effect(start, 2), 0.984_852_247_602_010_8, 0.919_243_601_683_968_5, 1.055_143_541_744_434_1);
    let seen = label(&found, place).levels[1].seen.clone().unwrap();
    assert_estimate(&seen, 0.799_455_377_611_644_1, 0.753_874_474_555_514, 0.847_792_201_969_708_8);
    assert_eq!(positions(&found, place), [Position::Above, Position::Below, Position::Above]);
    assert!(label(&found, place).levels[1].level == "cpus/1");
    for kind in [machine, start] {
        assert_eq!(positions(&found, kind), [Position::Across; 3]);
    }
}

/// The same for two machines, whose labels have one question each: `t.ppf(1 - 0.05 / 3 / 2, 3)`.
#[test]
fn two_machines_have_one_question_for_each_label() {
    let found = of_rows(&[[93.4, 86.4], [90.7, 102.5], [87.4, 99.7], [97.0, 86.9], [100.0, 91.1], [91.8, 101.4]]);
    let effect = |kind: LabelKind, level: usize| label(&found, kind).levels[level].effect.clone().unwrap();
    assert_estimate(
        &effect(LabelKind::StartOrder, 1),
        0.896_267_715_602_122_9,
        0.875_236_718_604_218_5,
        0.917_804_064_838_255_3,
    );
    let place = effect(LabelKind::Place, 0);
    assert_estimate(&place, 0.988_768_005_828_015_9, 0.965_566_481_774_209_2, 1.012_527_037_550_719_8);
    assert_eq!(positions(&found, LabelKind::StartOrder), [Position::Above, Position::Below]);
    assert_eq!(positions(&found, LabelKind::Machine), [Position::Across; 2]);
    assert_eq!(positions(&found, LabelKind::Place), [Position::Across; 2]);
}

/// The attribution of the three machines of a contender in a made-up run.
fn made_up(owed: Option<OwedTo>) -> Attribution {
    let run = consolidated::run_in_which(5, owed.map(|owed| ("kvm", owed)));
    let cell = run.plan.cells.iter().find(|cell| cell.contender == "kvm" && cell.machines() == 3).unwrap();
    of_cell(&run, cell, &super::super::readings(&run, cell).0).unwrap()
}

#[test]
fn what_a_machine_gets_less_is_owed_to_what_it_is_owed_to() {
    let three = [LabelKind::Machine, LabelKind::Place, LabelKind::StartOrder];
    let cases = [(OwedTo::Machine(2), three[0], 1), (OwedTo::Place(3), three[1], 2), (OwedTo::Start(1), three[2], 0)];
    for (owed, guilty, level) in cases {
        let found = made_up(Some(owed));
        for kind in three {
            let expected = match kind {
                kind if kind == guilty => {
                    let mut positions = [Position::Above; 3];
                    positions[level] = Position::Below;
                    positions.to_vec()
                }
                // All machines have the same CPUs unless places differ.
                LabelKind::Place if !matches!(owed, OwedTo::Place(_)) => Vec::new(),
                _ => vec![Position::Across; 3],
            };
            assert_eq!(positions(&found, kind), expected, "{owed:?}: {kind:?}");
        }
    }
    let nothing = made_up(None);
    assert!(nothing.labels.iter().flat_map(|label| &label.levels).all(|level| level.position == Position::Across));
    assert_eq!(label(&nothing, LabelKind::Place).untold, Some(Untold::SameForAll));
}

/// In four blocks of three machines, each machine has one place and one start twice. A machine that always gets half
/// makes the place that it has twice look bad, until the machine's effect is taken out.
#[test]
fn one_label_does_not_excuse_itself_with_another() {
    let mut chance = Chance::new(11);
    let rate =
        &mut |[_, machine, _, _]: [u32; 4]| if machine == 1 { 50.0 } else { 100.0 } * (0.005 * chance.normal()).exp();
    let found = of_readings(&studied(3, 4, rate)).unwrap();
    let first = &label(&found, LabelKind::Place).levels[0];
    assert!(first.seen.as_ref().unwrap().point < 0.85, "{first:?}");
    assert!((first.effect.as_ref().unwrap().point - 1.0).abs() < 0.05, "{first:?}");
    assert_eq!(positions(&found, LabelKind::Machine)[0], Position::Below);
    assert_eq!(positions(&found, LabelKind::Place), [Position::Across; 3]);
}

/// The machines of a block share its luck, and the others share what one of them loses by chance.
#[test]
fn where_nothing_matters_few_studies_say_that_something_does() {
    const STUDIES: u32 = 400;
    let mut chance = Chance::new(3);
    for (machines, blocks) in [(2, 5), (3, 4), (3, 8), (4, 5)] {
        let (mut false_alarms, mut found_out) = (0, 0);
        for _ in 0..STUDIES {
            let luck: Vec<f64> = (0..blocks).map(|_| 0.2 * chance.normal()).collect();
            let noise: Vec<f64> = (0..blocks * machines).map(|_| 0.03 * chance.normal()).collect();
            let at = |block: u32, machine: u32| (block - 1) * machines + machine - 1;
            let shared = |block: u32| (1..=machines).map(|machine| noise[at(block, machine) as usize]).sum::<f64>();
            let log = |block: u32, machine: u32| {
                luck[block as usize - 1] + noise[at(block, machine) as usize]
                    - 0.5 * shared(block) / f64::from(machines)
            };
            let is_any_apart = |found: &Attribution| {
                let levels = || found.labels.iter().flat_map(|label| &label.levels);
                assert!(levels().all(|level| level.position != Position::Unknown), "{found:#?}");
                levels().any(|level| level.position != Position::Across)
            };
            let nothing = studied(machines, blocks, &mut |[block, machine, ..]| log(block, machine).exp());
            false_alarms += u32::from(is_any_apart(&of_readings(&nothing).unwrap()));
            let half = |place: u32| if place == 1 { 0.5 } else { 1.0 };
            let halved =
                studied(machines, blocks, &mut |[block, machine, place, _]| log(block, machine).exp() * half(place));
            found_out += u32::from(is_any_apart(&of_readings(&halved).unwrap()));
        }
        assert!(false_alarms <= STUDIES / 20, "{machines} machines, {blocks} blocks: {false_alarms} false alarms");
        assert!(found_out > STUDIES * 9 / 10, "{machines} machines, {blocks} blocks: {found_out} found out");
    }
}

fn untold(machines: u32, blocks: u32, kind: LabelKind) -> Option<Untold> {
    let found = of_readings(&studied(machines, blocks, &mut |_| 1.0)).unwrap();
    label(&found, kind).untold.clone()
}

#[test]
fn labels_that_changed_together_are_not_judged() {
    use LabelKind::{Machine, Place, StartOrder};
    let together = |with: &[LabelKind]| Some(Untold::ChangedTogether { with: with.to_vec() });
    assert_eq!(untold(3, 1, Place), together(&[Machine, StartOrder]));
    assert_eq!((untold(2, 2, Machine), untold(2, 2, Place)), (None, together(&[StartOrder])));
    assert_eq!(untold(2, 2, StartOrder), together(&[Place]));
    for kind in [Machine, Place, StartOrder] {
        assert_eq!((untold(2, 3, kind), untold(3, 3, kind), untold(4, 4, kind)), (None, None, None));
    }
    // Place and start order always go together here, in however many blocks.
    let mut same = studied(3, 9, &mut |[_, _, place, _]| f64::from(place));
    for reading in &mut same {
        reading.start = Some((reading.block - 1 + reading.machine - 1) % 3 + 1);
    }
    let found = of_readings(&same).unwrap();
    assert_eq!(label(&found, Place).untold, together(&[StartOrder]));
    assert!(label(&found, Place).levels.iter().all(|level| level.effect.is_none() && level.seen.is_some()));
    assert!(label(&found, Machine).levels.iter().all(|level| level.effect.is_some()));
}

/// With one block fewer, too little is left for intervals.
#[test]
fn as_many_blocks_are_needed_as_the_design_needs() {
    for machines in 2..=12 {
        let noisy = |blocks: u32| {
            let mut chance = Chance::new(5);
            of_readings(&studied(machines, blocks, &mut |_| (0.01 * chance.normal()).exp())).unwrap()
        };
        let needed = u32::try_from(noisy(1).blocks_needed).unwrap();
        assert_eq!(needed, if machines == 2 { 5 } else { 4 });
        let has_intervals = |found: &Attribution| {
            let mut levels = found.labels.iter().flat_map(|label| &label.levels);
            levels.all(|level| level.effect.as_ref().is_some_and(|effect| effect.bounds.known().is_some()))
        };
        assert!(has_intervals(&noisy(needed)), "{machines}");
        let less = noisy(needed - 1);
        assert!(!has_intervals(&less), "{machines}");
        let levels = less.labels.iter().flat_map(|label| &label.levels);
        let why = Missing::TooFewBlocks { blocks: needed as usize - 1, needed: needed as usize };
        for effect in levels.filter_map(|level| level.effect.as_ref()) {
            assert_eq!(effect.bounds, Bounds::Unknown { why: why.clone() });
        }
    }
}

/// Four places on two nodes: the second node is further from the disk, and one place of the first has a busy neighbour.
#[test]
fn a_node_is_what_its_places_have_in_common() {
    let host = [("memory.node_cpus".to_owned(), Fact::known("0-1; 2-3"))].into();
    let host = Topology::of(&host);
    let mut chance = Chance::new(9);
    let mut readings = studied(4, 8, &mut |[_, _, place, _]| {
        let of_place = [0.7, 1.0, 0.6, 0.6][place as usize - 1];
        of_place * (0.01 * chance.normal()).exp()
    });
    for reading in &mut readings {
        let cpu = (reading.machine + reading.block - 2) % 4;
        reading.place = MachinePlace::of_cpus(&cpu.to_string(), &host);
    }
    let found = of_readings(&readings).unwrap();
    let (less, more) = (Position::Below, Position::Above);
    assert_eq!(positions(&found, LabelKind::Node), [more, less]);
    assert_eq!(positions(&found, LabelKind::Place), [less, more, Position::Across, Position::Across]);
    let node = label(&found, LabelKind::Node).levels[1].effect.as_ref().unwrap();
    assert!((node.point - 0.6 / 0.7_f64.sqrt()).abs() < 0.01, "{node:?}");
    for reading in &mut readings {
        reading.place = MachinePlace::of_cpus(if reading.machine % 2 == 0 { "0" } else { "2-3" }, &host);
    }
    let found = of_readings(&readings).unwrap();
    assert_eq!(label(&found, LabelKind::Node).untold, Some(Untold::OnePlaceEach));
}

#[test]
fn machines_that_may_run_anywhere_have_one_place() {
    let mut readings = studied(2, 6, &mut |_| 1.0);
    for reading in &mut readings {
        reading.place = MachinePlace::of_cpus("0-3", &Topology::default());
    }
    let found = of_readings(&readings).unwrap();
    assert_eq!(label(&found, LabelKind::Place).untold, Some(Untold::SameForAll));
    assert_eq!(found.blocks_needed, 4);
    assert_eq!(positions(&found, LabelKind::StartOrder), [Position::Across; 2], "equal to the last digit");
}

#[test]
fn what_is_not_recorded_is_not_judged() {
    let mut run = consolidated::run_in_which(5, Some(("kvm", OwedTo::Place(1))));
    let cell = run.plan.cells.iter().find(|cell| cell.contender == "kvm" && cell.machines() == 3).unwrap().clone();
    let found = |run: &Run| of_cell(run, &cell, &super::super::readings(run, &cell).0).unwrap();
    let of_cell = |run: &mut Run, change: &dyn Fn(&mut record::facts::Facts), trials: usize| {
        let trials = run.trials.iter_mut().filter(|trial| trial.record.cell == cell.id).take(trials);
        for machine in trials.flat_map(|trial| &mut trial.machines) {
            change(&mut machine.record.machine.as_mut().unwrap().decided);
        }
    };
    let whole = found(&run);
    assert_eq!((whole.blocks, whole.labels.len()), (5, 3));
    // One machine was booted again.
    let again = |decided: &mut record::facts::Facts| {
        decided.insert(START_ORDER.to_owned(), Fact::unavailable("it was booted again"));
    };
    of_cell(&mut run, &again, 1);
    assert_eq!((found(&run).blocks, found(&run).labels.len()), (4, 3));
    // Records from before machines were started in order.
    of_cell(&mut run, &again, 5);
    let old = found(&run);
    assert_eq!(label(&old, LabelKind::StartOrder).untold, Some(Untold::NotRecorded));
    assert_eq!((old.blocks, label(&old, LabelKind::Place).levels[0].level.as_str()), (5, "cpus/0"));
    of_cell(&mut run, &|decided| drop(decided.remove(HOST_CPUS)), 5);
    assert_eq!(label(&found(&run), LabelKind::Place).levels[2].level, "place/3");
    of_cell(&mut run, &|decided| drop(decided.remove(PLACE)), 5);
    let nothing = found(&run);
    assert_eq!(label(&nothing, LabelKind::Place).untold, Some(Untold::NotRecorded));
    assert_eq!(positions(&nothing, LabelKind::Machine), [Position::Across; 3]);
}

/// A machine that is not measured takes another place and another start out of each block.
#[test]
fn labels_that_not_all_blocks_have_are_judged_by_those_that_have_them() {
    let mut chance = Chance::new(21);
    let rate = &mut |[_, _, place, _]: [u32; 4]| if place == 2 { 0.5 } else { 1.0 } * (0.005 * chance.normal()).exp();
    let mut readings = studied(3, 9, rate);
    readings.retain(|reading| reading.machine != 2);
    let found = of_readings(&readings).unwrap();
    assert_eq!((positions(&found, LabelKind::Place)[1], found.blocks_needed), (Position::Below, 7));
    assert_eq!(positions(&found, LabelKind::Machine), [Position::Across; 2]);
    readings.retain(|reading| reading.machine != 3);
    assert_eq!(of_readings(&readings), None);
}
