//! Which findings count for which answer, and how much.

use super::*;
use crate::findings::What;
use crate::summary::analyse;
use proptest::prelude::*;
use record::facts::{Fact, PROCESSOR};
use record::host_state::ProcessTimes;
use record::looks::Reading;
use record::run::Run;
use record::synthetic;
use std::sync::LazyLock;

/// Native, kvm, and a third contender that does what kvm does.
fn three() -> Run {
    let mut run = synthetic::run(5);
    let mut cell = run.plan.cells[1].clone();
    (cell.id, cell.contender) = (2, "crun".to_owned());
    run.plan.cells.push(cell);
    let more = u32::try_from(run.trials.len()).unwrap();
    for mut planned in run.plan.trials.clone().into_iter().filter(|trial| trial.cell == 1) {
        (planned.id, planned.cell) = (planned.id + more, 2);
        run.plan.trials.push(planned);
    }
    for mut trial in run.trials.clone().into_iter().filter(|trial| trial.record.cell == 1) {
        let record = &mut trial.record;
        (record.id, record.cell, record.contender) = (record.id + more, 2, "crun".to_owned());
        run.trials.push(trial);
    }
    run
}

fn emulate(run: &mut Run, cell: u32) {
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == cell) {
        let machine = trial.record.machine.as_mut().unwrap();
        machine.decided.insert(PROCESSOR.to_owned(), Fact::known("emulated, because /dev/kvm is not there"));
    }
}

/// In each trial of this cell, others had this share of the host's CPU time, of which `busy` was used.
fn disturb(analysis: &mut Analysis, cell: u32, busy: f64, others: f64) {
    let own: Vec<u32> = analysis.cells[cell as usize].trials.iter().map(|trial| trial.trial).collect();
    for reading in analysis.consistency.host.trials.iter_mut().filter(|one| own.contains(&one.trial)) {
        (reading.busy, reading.others) = (Some(busy), Some(others));
    }
}

/// An analysis without findings but these.
fn with(findings: Vec<Finding>) -> Analysis {
    Analysis { findings, ..analyse(&synthetic::run(5)) }
}

fn stamps(analysis: &Analysis) -> Vec<Stamp> {
    all(analysis).into_iter().map(|one| one.stamp).collect()
}

#[test]
fn an_answer_has_only_the_doubts_about_its_own_trials() {
    let mut run = three();
    assert_eq!(all(&analyse(&run)).len(), 2);
    emulate(&mut run, 2);
    let answers = all(&analyse(&run));
    let codes = |index: usize| answers[index].doubts.iter().map(|doubt| doubt.kind).collect::<Vec<_>>();
    assert!(answers[0].stamp < Stamp::NotUsable && !codes(0).contains(&"vm-emulated"), "{answers:#?}");
    assert_eq!((answers[1].stamp, codes(1)[0]), (Stamp::NotUsable, "vm-emulated"));
    assert_eq!(worst(&answers), Stamp::NotUsable);
}

#[test]
fn a_doubt_about_some_trials_of_a_contender_is_none_about_its_others() {
    let mut analysis = with(Vec::new());
    let of_cell = |cell: usize| analysis.cells[cell].trials.iter().map(|one| one.trial).collect::<Vec<u32>>();
    let note = Finding::new(What::NotedByTrial { note: "x".to_owned() }).of(&analysis.cells[1].contender);
    let [elsewhere, here] = [of_cell(0), of_cell(1)].map(|trials| note.clone().in_trials(trials));
    analysis.findings = vec![elsewhere];
    assert_eq!(stamps(&analysis), [Stamp::Usable]);
    analysis.findings = vec![here];
    assert_eq!(stamps(&analysis), [Stamp::WithCare]);
}

#[test]
fn trials_whose_host_was_not_read_are_counted() {
    let mut run = synthetic::run(5);
    run.trials[0].record.host_state = None;
    let analysis = analyse(&run);
    assert_eq!(without_host(&analysis, all(&analysis)[0].question), 1);
}

#[test]
fn two_clocks_that_are_wrong_count_both() {
    let clock = |share| Finding::new(What::ClockWrong { share });
    let one = with(vec![clock(0.01)]);
    let both = with(vec![clock(0.01), clock(0.02)]);
    let reached = |analysis: &Analysis| all(analysis)[0].doubts.iter().filter_map(|doubt| doubt.reach).count();
    assert_eq!([reached(&one), reached(&both)], [1, 2]);
}

#[test]
fn what_two_contenders_share_is_no_doubt_about_them() {
    let servers = |values: [&str; 3]| {
        let mut run = three();
        for trial in &mut run.trials {
            trial.record.server.as_mut().unwrap().version = values[trial.record.cell as usize].to_owned();
        }
        let analysis = analyse(&run);
        let answers = all(&analysis);
        let has = |one: &Answered| one.doubts.iter().any(|doubt| doubt.kind == "servers-differ");
        [has(&answers[0]), has(&answers[1])]
    };
    assert_eq!(servers(["15", "15", "15"]), [false, false]);
    assert_eq!(servers(["15", "15", "16"]), [false, true]);
    assert_eq!(servers(["15", "16", "16"]), [true, true]);
}

#[test]
fn the_worst_doubt_decides_and_what_is_accepted_does_not() {
    let emulated = Finding::new(What::VmEmulated { how: "emulated".to_owned() });
    let accepted = Finding { accepted: Some("it is what we ask".to_owned()), ..emulated.clone() };
    let noted = Finding::new(What::NotedByTrial { note: "x".to_owned() });
    let systems = Finding::new(What::SystemsDiffer { facts: Vec::new() });
    for (findings, expected) in [
        (vec![], Stamp::Usable),
        (vec![systems], Stamp::Usable),
        (vec![noted.clone(), emulated.clone(), emulated], Stamp::NotUsable),
        (vec![noted, accepted], Stamp::WithCare),
    ] {
        let analysis = with(findings);
        let answers = all(&analysis);
        assert_eq!(answers[0].stamp, expected, "{answers:?}");
        let codes: BTreeSet<&str> = answers[0].doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(codes.len(), answers[0].doubts.len(), "each code once: {answers:?}");
    }
}

/// kvm does 15 % less, and its interval is a few per cent wide.
#[test]
fn the_size_of_a_doubt_decides_about_an_answer() {
    let under = |cell: u32, others: f64| {
        let mut analysis = with(vec![Finding::new(What::HostBusy { share: others })]);
        for cell in [0, 1] {
            disturb(&mut analysis, cell, 0.8, 0.0);
        }
        disturb(&mut analysis, cell, 0.8, others);
        all(&analysis).remove(0)
    };
    let (quiet, loud, louder) = (under(1, 0.001), under(1, 0.05), under(1, 0.4));
    assert_eq!([quiet.stamp, loud.stamp, louder.stamp], [Stamp::Usable, Stamp::WithCare, Stamp::NotUsable]);
    // All that others had could have been kvm's: 0.75 of the CPUs became 0.8.
    let reach = loud.doubts[0].reach.unwrap();
    assert!((reach.high - 0.8 / 0.75).abs() < 1e-9 && reach.low.to_bits() == 1.0_f64.to_bits(), "{reach:?}");
    // With native alone under load, kvm is worse still.
    let native = under(0, 0.4);
    assert_eq!(native.stamp, Stamp::WithCare, "{native:?}");
    assert!(native.doubts[0].reach.unwrap().low < 0.6);
}

/// Writes of others could have been the contender's, as CPU time could.
#[test]
fn other_work_of_the_disk_counts_by_the_work_of_the_trials() {
    let under = |share: f64| {
        let mut analysis = with(vec![]);
        let own: f64 = ["device.read", "device.written"]
            .iter()
            .filter_map(|name| Some(analysis.cells[1].level(name)?.point))
            .sum();
        let (loud, quiet) = ("kvm".to_owned(), "native".to_owned());
        let what = What::HostDiskBusyBesideOne { loud, most: share * own, quiet, least: 0.0 };
        analysis.findings = vec![Finding::new(what)];
        for reading in &mut analysis.consistency.host.trials {
            reading.others_disk = Some(if reading.contender == "kvm" { share * own } else { 0.0 });
        }
        all(&analysis).remove(0)
    };
    let (little, much, most) = (under(0.001), under(0.05), under(0.5));
    assert_eq!([little.stamp, much.stamp, most.stamp], [Stamp::Usable, Stamp::WithCare, Stamp::NotUsable]);
    assert!((most.doubts[0].reach.unwrap().high - 1.5).abs() < 1e-9, "{most:?}");
}

/// With as much memory as a native machine without a limit, kvm would have waited for no read.
#[test]
fn what_one_side_alone_honours_counts_by_its_size_or_makes_an_answer_useless() {
    let of = |wish: &str, contenders: &[&str]| {
        let fact = Fact::unavailable("permission denied");
        let what = What::NotHonoured { wish: wish.to_owned(), fact };
        let lacks = contenders.iter().map(|name| Finding::new(what.clone()).of(name));
        all(&with(lacks.collect())).remove(0)
    };
    let memory = of("memory limit", &["native"]);
    assert!(memory.doubts[0].reach.is_some_and(|reach| reach.high > 1.0 && reach.high < 1.2), "{memory:?}");
    let limited = of("memory limit", &["kvm"]);
    assert!(limited.doubts[0].reach.is_some_and(|reach| reach.low < 1.0 && reach.low > 0.8), "{limited:?}");
    assert_eq!(of("memory node", &["native"]).stamp, Stamp::NotUsable);
    assert_eq!(of("memory node", &["native", "kvm"]).stamp, Stamp::WithCare);
}

/// Blocks that met both sides alike moved no ratio.
#[test]
fn load_beside_both_sides_is_no_doubt_about_their_ratio() {
    let mut analysis = with(vec![Finding::new(What::HostBusy { share: 0.3 })]);
    disturb(&mut analysis, 0, 0.8, 0.3);
    disturb(&mut analysis, 1, 0.8, 0.3);
    assert_eq!(stamps(&analysis), [Stamp::Usable]);
    let others = all(&analysis)[0].others.unwrap();
    assert!((others - 0.3).abs() < 1e-9, "it is the answer's scope");
    analysis.consistency.host.trials.clear();
    assert_eq!(stamps(&analysis), [Stamp::WithCare], "its code decides where readings are missing");
}

/// An answer may be read without the study.
#[test]
fn what_is_accepted_is_the_scope_of_an_answer() {
    let accepted = |name| Finding { accepted: Some("known".to_owned()), ..Finding::new(What::WindowTooShort).of(name) };
    let answered = all(&with(vec![accepted("native"), accepted("kvm"), accepted("another")])).remove(0);
    assert_eq!((answered.stamp, answered.accepted), (Stamp::Usable, vec!["window-too-short"]));
    assert!(all(&with(vec![accepted("another")]))[0].accepted.is_empty(), "it is about no trial of this answer");
}

/// A checkpoint on one side only is in the ratio.
#[test]
fn windows_without_a_checkpoint_on_both_sides_are_the_scope_of_their_ratio() {
    let of = |begun: [u64; 2]| {
        let short = |name| Finding::new(What::WindowTooShort).of(name);
        let mut analysis = with(vec![short("native"), short("kvm")]);
        for (cell, begun) in analysis.cells.iter_mut().zip(begun) {
            cell.steadiness.checkpoints_begun = Some((0, begun));
        }
        let answered = all(&analysis).remove(0);
        (answered.stamp, answered.is_without_checkpoints)
    };
    assert_eq!(of([0, 0]), (Stamp::Usable, true));
    assert_eq!([of([1, 0]), of([0, 1])], [(Stamp::WithCare, false); 2]);
}

/// A machine at its own limit waits for memory on a host that has enough.
#[test]
fn a_side_is_short_of_memory_only_while_its_host_is() {
    let of = |available: u64| {
        let mut analysis = with(vec![Finding::new(What::HostMemoryShort { share: 0.02 }).of("native")]);
        let host = &mut analysis.consistency.host;
        host.total_bytes = Some(1_000);
        for reading in &mut host.trials {
            let is_own = reading.contender == "native";
            (reading.memory_stalled, reading.available_bytes) =
                if is_own { (Some(0.02), Some(50)) } else { (Some(0.4), Some(available)) };
        }
        all(&analysis)[0].doubts[0].reach.unwrap().high
    };
    assert!(of(900) < 1.001 && of(99) > 1.6, "{} {}", of(900), of(99));
}

/// Both may have drifted for reasons of their own.
#[test]
fn drift_on_both_sides_does_not_cancel_out() {
    let mut analysis = with(vec![Finding::new(What::HalvesUnlike { second_half: 0.5 })]);
    for cell in &mut analysis.cells {
        cell.steadiness.second_half = Some(0.5);
    }
    let found = all(&analysis).remove(0);
    let reach = found.doubts[0].reach.unwrap();
    assert!((reach.low - 2.0 / 3.0).abs() < 1e-9 && (reach.high - 1.5).abs() < 1e-9, "{reach:?}");
    assert_eq!(found.stamp, Stamp::NotUsable);
}

#[test]
fn small_doubts_add_up() {
    let share = {
        let ratio = with(vec![]).comparisons[0].throughput().unwrap().estimate.clone();
        let (_, high) = ratio.bounds.known().unwrap();
        (high / ratio.point - 1.0) * 0.7
    };
    let clock = Finding::new(What::ClockWrong { share });
    assert_eq!(stamps(&with(vec![clock.clone()])), [Stamp::Usable]);
    let mut both = with(vec![clock, Finding::new(What::HostBusy { share })]);
    disturb(&mut both, 0, 1.0, 0.0);
    disturb(&mut both, 1, 1.0, share / (1.0 + share));
    assert_eq!(stamps(&both), [Stamp::WithCare]);
}

#[test]
fn without_an_interval_nothing_is_usable() {
    assert_eq!(stamps(&analyse(&synthetic::run(2))), [Stamp::NotUsable]);
    let sound = all(&analyse(&synthetic::run(5))).remove(0);
    assert_eq!((sound.stamp, sound.doubts[0].kind), (Stamp::WithCare, "not-honoured"));
    let mut wrong = with(vec![]);
    wrong.comparisons[0].verdict = RatioVerdict::WrongData;
    assert_eq!(stamps(&wrong), [Stamp::NotUsable]);
}

/// A terminal shows the first few only.
#[test]
fn what_makes_an_answer_unusable_is_listed_before_all_else() {
    let seeds = Finding::new(What::SeedsDiffer { old: 1, new: 2 });
    let unclear = Finding::new(What::TooFewBlocks { blocks: 2, needed: 3 });
    let mut findings = [seeds, unclear];
    crate::findings::accept(&mut findings, &synthetic::run(1).plan);
    assert_eq!(findings[0].what.kind().name, "too-few-blocks");
}

/// From the record itself: others were busy while kvm was measured.
#[test]
fn the_load_of_others_is_read_from_the_trials() {
    let mut run = synthetic::run(5);
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
        let state = trial.record.host_state.as_mut().unwrap();
        state.end.processes = Reading::Known(ProcessTimes { others_ticks: 1_500, ..ProcessTimes::default() });
    }
    let analysis = analyse(&run);
    let doubts = all(&analysis).remove(0).doubts;
    let of = |code: &str| doubts.iter().find(|doubt| doubt.kind == code).and_then(|doubt| doubt.reach);
    assert!(of("host-busy").is_some_and(|reach| reach.high > 1.1), "{doubts:?}");
    assert_eq!(of("host-busy"), of("host-busy-beside-one"));
}

#[test]
fn equal_machines_are_asked_for_their_shares_and_audits_for_their_verdict() {
    let mut analysis = analyse(&synthetic::consolidated::run(5, None));
    let asked = |analysis: &Analysis, wanted: fn(&Question) -> bool| {
        all(analysis).iter().filter(|one| wanted(&one.question)).map(|one| one.stamp).collect::<Vec<_>>()
    };
    // Three machines of each of two contenders.
    let of_shares = |analysis: &Analysis| asked(analysis, |one| matches!(one, Question::EqualShare(_)));
    assert_eq!(of_shares(&analysis).len(), 2);
    analysis.findings = vec![Finding::new(What::Rehearsed)];
    assert_eq!(of_shares(&analysis), [Stamp::NotUsable; 2]);
    let audited = |contender: &str, verdict| crate::durability::Audited {
        cell: 0,
        contender: contender.to_owned(),
        baseline: false,
        coordinates: String::new(),
        verdict,
        declared: Vec::new(),
        acknowledged: 700,
        holds: 10,
        acknowledged_in_holds: 0,
        scan: None,
        faults: Vec::new(),
        cost: None,
    };
    let kept = |cuts| crate::durability::DurabilityVerdict::Kept { cuts, bound: 0.05 };
    let unknown = crate::durability::DurabilityVerdict::NotAudited { why: "there is no /dev/fuse".to_owned() };
    analysis.durability =
        vec![audited("a", kept(60)), audited("b", unknown), audited("c", kept(60)), audited("d", kept(70))];
    let of_audits = asked(&analysis, |one| matches!(one, Question::Durable(_)));
    assert_eq!(of_audits, [Stamp::Usable, Stamp::NotUsable, Stamp::Usable], "of a and c, of b, of d");
}

/// A difference that is sure, and the same without a verdict.
static RATIOS: LazyLock<[(Contrast, RatioVerdict); 2]> = LazyLock::new(|| {
    let one = analyse(&synthetic::run(5)).comparisons.remove(0);
    let ratio = one.throughput().unwrap().clone();
    let mut wide = ratio.clone();
    wide.estimate.bounds = crate::estimate::Bounds::Known { low: 0.7, high: 1.1 };
    [(ratio, one.verdict), (wide, RatioVerdict::Undecided)]
});

proptest! {
    /// A larger doubt never makes an answer better.
    #[test]
    fn stamps_grow_with_doubts(low in 0.2..1.0_f64, high in 1.0..5.0_f64, shrink in 0.0..1.0_f64, which in 0_usize..2) {
        let (ratio, verdict) = &RATIOS[which];
        let figure = Some(super::ratio(ratio, *verdict));
        let larger = Reach { low, high };
        let smaller = Reach { low: low.powf(shrink), high: high.powf(shrink) };
        for margin in [None, Some(0.02), Some(0.3)] {
            prop_assert!(stamp(figure, margin, smaller) <= stamp(figure, margin, larger));
        }
        prop_assert_eq!(stamp(figure, None, Reach::NONE), Stamp::Usable);
    }
}
