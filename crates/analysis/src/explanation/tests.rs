//! Explanations of a made-up run, and of the two troubles that everybody meets: a throttled disk and a shared core.

use super::*;
use record::synthetic::telemetry::{Source, counts, vcpu};
use record::synthetic::{consolidated, run, sampled};

fn said(run: &Run, rule: &str) -> Vec<String> {
    let explanations = all(run);
    let sentences = explanations.iter().flat_map(|found| &found.sentences).filter(|sentence| sentence.rule == rule);
    sentences.map(|sentence| sentence.text.clone()).collect()
}

/// At each second exactly so much.
fn limited(name: &str, unit: &'static str, rate: f64) -> Source {
    Source { wobble: 0.0, ..counts(name, unit, rate) }
}

#[test]
fn a_throttled_disk_is_named_as_such() {
    let mut run = run(5);
    assert_eq!(said(&run, "held-back disk"), Vec::<String>::new());
    // A hundred writes a second, always under way, 8 ms each; the host needs 0.2 ms for one.
    let guest = [
        limited("disk.data.reads", "", 0.0),
        limited("disk.data.read_time", "ms", 0.0),
        limited("disk.data.writes", "", 100.0),
        limited("disk.data.write_time", "ms", 800.0),
        limited("disk.data.busy", "ms", 990.0),
    ];
    sampled(&mut run, 1, Side::Machine, &guest);
    let host = [
        counts("disk.data.reads", "", 0.0),
        counts("disk.data.read_time", "ms", 0.0),
        counts("disk.data.writes", "", 100.0),
        counts("disk.data.write_time", "ms", 20.0),
        counts("disk.data.busy", "ms", 25.0),
    ];
    sampled(&mut run, 1, Side::Host, &host);
    let told = said(&run, "held-back disk");
    assert_eq!(told.len(), 1, "{told:?}");
    let opening = "kvm's disk is held back: the guest's device was busy for 99 % (99 to 99) of the window and did a steady \
                   100 (100 to 100) operations a second, varying by 0.0 % (0.0 to 0.1), 8 ms (8 to 8) each, while the host's \
                   device below took 0.";
    assert!(told[0].starts_with(opening), "{}", told[0]);
    assert!(
        told[0].contains("and was busy for 2.") && told[0].ends_with("So behaves a limit between the two."),
        "{}",
        told[0]
    );
}

/// What is busy because the host's own device can do no more is not held back.
#[test]
fn a_slow_disk_is_not_called_held_back() {
    let mut run = run(5);
    for side in [Side::Machine, Side::Host] {
        let slow = [
            limited("disk.data.writes", "", 100.0),
            limited("disk.data.write_time", "ms", 800.0),
            limited("disk.data.busy", "ms", 990.0),
        ];
        sampled(&mut run, 1, side, &slow);
    }
    assert_eq!(said(&run, "held-back disk"), Vec::<String>::new());
}

/// A busy disk that varies as the load does is not at a limit, however long an operation takes on the way to it.
#[test]
fn a_disk_far_away_is_not_called_held_back() {
    let mut run = run(5);
    let far = [
        Source { wobble: 0.3, ..counts("disk.data.reads", "", 100.0) },
        Source { wobble: 0.3, ..counts("disk.data.writes", "", 100.0) },
        Source { wobble: 0.3, ..counts("disk.data.read_bytes", "bytes", 1e6) },
        Source { wobble: 0.3, ..counts("disk.data.write_bytes", "bytes", 1e6) },
        limited("disk.data.write_time", "ms", 800.0),
        limited("disk.data.busy", "ms", 990.0),
    ];
    sampled(&mut run, 1, Side::Machine, &far);
    assert_eq!(said(&run, "held-back disk"), Vec::<String>::new());
}

#[test]
fn a_vcpu_that_shares_its_core_with_a_busy_loop_is_named_as_such() {
    let mut run = run(5);
    assert_eq!(said(&run, "shared CPU"), Vec::<String>::new());
    // It wants to run for 78 % of the time and gets half of that.
    sampled(&mut run, 1, Side::Host, &vcpu(1, 0.39, 0.39));
    let told = said(&run, "shared CPU");
    assert_eq!(told.len(), 1, "{told:?}");
    let expected = "kvm's vCPU 1 waited 38 % (37 to 40) of the window for a CPU of the host: it shares it. That is 49 % (48 to 51) of \
                    the time in which it wanted to run.";
    assert_eq!(told[0], expected);
    let disagreement = said(&run, "disagreement on stolen time");
    assert_eq!(disagreement.len(), 1, "the guest counts 0.7 % as stolen");
    sampled(&mut run, 1, Side::Host, &vcpu(0, 0.4, 0.38));
    let both = said(&run, "shared CPU");
    assert!(both[0].starts_with("kvm's vCPUs waited 3") && both[0].contains(": they share it. vCPU "), "{both:?}");
}

#[test]
fn the_made_up_run_is_explained() {
    let explanations = all(&run(5));
    let [found] = &explanations[..] else { panic!("one comparison") };
    assert_eq!((found.baseline.as_str(), found.contender.as_str(), found.blocks), ("native", "kvm", 5));
    let rules: Vec<&str> = found.sentences.iter().map(|sentence| sentence.rule.as_str()).collect();
    for rule in
        ["work per transaction", "exits per transaction", "disk time between guest and host", "disk time of contenders"]
    {
        assert!(rules.contains(&rule), "{rule} is not among {rules:?}");
    }
    let interrupts =
        found.counters.rows.iter().find(|row| row.side == Side::Machine && row.name == "interrupts.total").unwrap();
    let (low, high) = interrupts.ratio.as_ref().unwrap().bounds.known().unwrap();
    assert!(low < 2.125 && 2.125 < high, "25.5 against 12: {low} to {high}");
    assert!(found.counters.one_sided.iter().any(|column| column.name == "kvm.vcpu.exits" && column.on == "kvm"));
    assert_eq!(found.courses.len(), DRAWN);
    assert!(
        found.not_available.iter().any(|line| line.contains("energy on the host, because")),
        "{:?}",
        found.not_available
    );
    assert_eq!(found.profiles.len(), 3);
}

#[test]
fn too_few_blocks_or_samples_are_said_instead_of_sentences() {
    let few = &all(&run(2))[0];
    assert!(few.sentences.is_empty() && few.not_available[0].contains("of 2 blocks"), "{:?}", few.not_available);
    let mut rare = run(3);
    for series in rare.trials.iter_mut().flat_map(|trial| &mut trial.telemetry) {
        series.samples.retain(|sample| sample.at_ns / 1_000_000_000 % 20 == 8);
    }
    let found = &all(&rare)[0];
    assert!(
        found.sentences.is_empty() && found.not_available[0].contains("fewer than 5 samples"),
        "{:?}",
        found.not_available
    );
}

#[test]
fn a_run_without_telemetry_is_not_explained() {
    let mut old = run(3);
    old.trials.iter_mut().for_each(|trial| trial.telemetry.clear());
    assert_eq!(all(&old), []);
}

/// Three machines each; one vCPU of one of them shares its core, and each of the guests has two and a half times the interrupts.
#[test]
fn what_is_one_machines_names_it_and_what_is_of_all_is_said_once() {
    let mut run = consolidated::run(3, None);
    for machine in 1..=3 {
        let host = vcpu(0, 0.39, if machine == 2 { 0.39 } else { 0.001 });
        consolidated::sampled(&mut run, "kvm", machine, Side::Host, &host);
        consolidated::sampled(&mut run, "native", machine, Side::Host, &[counts("machine.run", "ns", 0.4e9)]);
        for (contender, rate) in [("native", 1_000.0), ("kvm", 2_500.0)] {
            let interrupts = [counts("interrupts.total", "", rate)];
            consolidated::sampled(&mut run, contender, machine, Side::Machine, &interrupts);
        }
    }
    run.plan.cells.retain(|cell| cell.machines() == 3);
    let shared = said(&run, "shared CPU");
    let [one] = &shared[..] else { panic!("{shared:#?}") };
    assert!(one.starts_with("kvm machine 2's vCPU 0 waited 39 % (") && one.contains(" of the window"), "{one}");
    let work = said(&run, "work per transaction");
    let [one] = &work[..] else { panic!("{work:#?}") };
    assert!(one.starts_with("Each transaction cost kvm 2.") && one.contains("the interrupts of native"), "{one}");
    let found = &all(&run)[0];
    assert_eq!(found.blocks, 3);
    let missing = |what: &str| found.not_available.iter().filter(|line| line.contains(what)).count();
    let counts = [missing("whether vCPUs had to wait"), missing("how long their disks took")];
    // What is not known of one machine may be known of another; what is of all is told once.
    assert_eq!(counts, [0, 1], "{:?}", found.not_available);
}

/// On newer kernels a throttled thread counts as one that waits.
#[test]
fn a_throttled_vcpu_is_not_said_to_share_its_cpu() {
    let mut run = run(5);
    sampled(&mut run, 1, Side::Host, &vcpu(1, 0.39, 0.39));
    sampled(&mut run, 1, Side::Host, &[counts("cgroup.machine.throttled_time", "ns", 0.39e9)]);
    assert_eq!(said(&run, "shared CPU"), Vec::<String>::new());
    let quota = said(&run, "CPU quota");
    assert!(matches!(&quota[..], [one] if one.starts_with("kvm was held back for 39 % (")), "{quota:?}");
    let found = &all(&run)[0];
    assert!(found.not_available.iter().any(|line| line.contains("whether kvm's vCPUs share a CPU")), "{found:?}");
}
