//! Several machines whose counts are known, on kernels of their own and on the host's.

use super::super::{CountedTrial, of_trial};
use super::*;
use crate::missing::Missing;
use record::facts::{Fact, HOSTS_OWN, PROCESSOR};
use record::run::Run;
use record::synthetic::consolidated::{run, sampled};
use record::synthetic::telemetry::{MadeUpColumn, counts};

const WINDOW_S: f64 = 24.0;

/// Exactly this much each second.
fn steady(name: &str, unit: &'static str, rate: f64) -> MadeUpColumn {
    MadeUpColumn { wobble: 0.0, ..counts(name, unit, rate) }
}

fn stands(name: &str, unit: &'static str, value: f64) -> MadeUpColumn {
    MadeUpColumn { behaviour: Behaviour::Stands, ..steady(name, unit, value) }
}

fn three_machines(run: &Run) -> &StoredTrial {
    run.trials.iter().find(|trial| trial.record.contender == "kvm" && trial.machines.len() == 3).unwrap()
}

fn counted(run: &Run) -> CountedTrial {
    of_trial(three_machines(run)).unwrap()
}

#[track_caller]
fn close(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-3), "{found:?}, not {expected}");
}

/// Sets where a probe of each machine of every trial reads.
fn reads(run: &mut Run, probe: &str, sources: [&str; 3]) {
    for trial in &mut run.trials {
        for (machine, source) in trial.machines.iter_mut().zip(sources) {
            let probes = machine.telemetry.iter_mut().flat_map(|series| &mut series.probes);
            probes.filter(|own| own.name == probe).for_each(|own| source.clone_into(&mut own.source));
        }
    }
}

fn decided(run: &mut Run, name: &str, facts: [&str; 3]) {
    for trial in &mut run.trials {
        for (machine, fact) in trial.machines.iter_mut().zip(facts) {
            machine.record.machine.as_mut().unwrap().decided.insert(name.to_owned(), Fact::known(fact));
        }
    }
}

/// Guests whose kernels have files of the same name count 100, 200 and 300 interrupts a second: 600 over all transactions.
#[test]
fn counts_and_sizes_of_guests_are_added_up_and_other_readings_averaged() {
    let mut run = run(1, None);
    for (machine, rate) in [(1, 100.0), (2, 200.0), (3, 300.0)] {
        let readings = [stands("memory.free", "bytes", rate), stands("frequency.mean", "MHz", rate)];
        let sources = [steady("interrupts.total", "", rate)].into_iter().chain(readings).collect::<Vec<_>>();
        sampled(&mut run, "kvm", machine, Side::Machine, &sources);
    }
    reads(&mut run, "interrupts", ["/proc/interrupts"; 3]);
    let found = counted(&run);
    let machine = found.side(Side::Machine).unwrap();
    close(machine.worth("interrupts.total"), 600.0 * WINDOW_S);
    close(machine.worth("memory.free"), 600.0);
    close(machine.worth("frequency.mean"), 200.0);
    close(Some(machine.seconds), WINDOW_S);
    let rates = &machine.columns["interrupts.total"].rates;
    assert!(rates.len() > 20 && rates.iter().all(|rate| (rate.per_second - 600.0).abs() < 2.0), "{rates:?}");
    let each: f64 = found.machines.iter().map(|(_, own)| own.transactions).sum();
    assert!((found.transactions - each).abs() < 1e-9 && found.transactions > 0.0);
    assert_eq!(found.machines.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3]);
    close(found.machines[2].1.side(Side::Machine).unwrap().worth("interrupts.total"), 300.0 * WINDOW_S);
    assert_eq!(found.host, Err(Missing::NotSampled { side: Some(Side::Host) }.of_machine(1)));
}

/// The host as a whole was sampled beside the first machine only; all disks lie on one of its devices.
#[test]
fn what_the_host_counts_of_all_is_taken_once() {
    let mut run = run(1, None);
    for machine in 1..=3 {
        let mut sources = vec![
            steady("vcpu.0.run", "ns", 0.5e9),
            steady("vcpu.0.wait", "ns", 0.1e9),
            steady("disk.writes", "", 900.0),
            steady("emulator.run", "ns", 0.2e9),
        ];
        if machine == 1 {
            sources.extend([steady("switches.context", "", 7_000.0), steady("cpu.shape.user", "ticks", 10.0)]);
        }
        sampled(&mut run, "kvm", machine, Side::Host, &sources);
    }
    reads(&mut run, "disk", ["/sys/block/vda/stat"; 3]);
    reads(&mut run, "vcpu", ["/proc/7/task/8", "/proc/9/task/10", "/proc/11/task/12"]);
    let found = counted(&run);
    let host = found.side(Side::Host).unwrap();
    close(host.worth("switches.context"), 7_000.0 * WINDOW_S);
    close(host.worth("disk.writes"), 900.0 * WINDOW_S);
    close(host.worth("vcpu.0.run"), 3.0 * 500.0 * WINDOW_S);
    close(host.worth("emulator.run"), 3.0 * 200.0 * WINDOW_S);
    assert_eq!(host.worth("cpu.shape.user"), None);
    assert!(host.unavailable.contains(&Unseen { probe: None, why: Missing::CpusOfOneMachine }));
    reads(&mut run, "disk", ["/sys/block/vda/stat", "/sys/block/vdb/stat", "/sys/block/vdb/stat"]);
    close(counted(&run).side(Side::Host).unwrap().worth("disk.writes"), 2.0 * 900.0 * WINDOW_S);
}

/// Native machines see the host from inside, but only their own of its CPUs: machines 2 and 3 have the same one.
#[test]
fn machines_on_one_kernel_are_not_counted_twice() {
    let mut run = run(1, None);
    for machine in 1..=3 {
        let sources = [
            steady("switches.context", "", 7_000.0),
            steady("cpu.user", "ticks", 190.0),
            steady("cpu.shape.user", "ticks", if machine == 1 { 90.0 } else { 40.0 }),
            steady("server.run", "ns", 1e8),
        ];
        sampled(&mut run, "kvm", machine, Side::Machine, &sources);
    }
    decided(&mut run, PROCESSOR, [HOSTS_OWN; 3]);
    decided(&mut run, "host CPUs", ["0", "1", "1"]);
    reads(&mut run, "cpu", ["/proc/stat"; 3]);
    reads(&mut run, "switches", ["/proc/stat"; 3]);
    // Each machine has its own view of processes.
    reads(&mut run, "server", ["/proc/5 and below"; 3]);
    let found = counted(&run);
    let machine = found.side(Side::Machine).unwrap();
    close(machine.worth("switches.context"), 7_000.0 * WINDOW_S);
    close(machine.worth("cpu.user"), (900.0 + 400.0) * WINDOW_S);
    close(machine.worth("server.run"), 300.0 * WINDOW_S);
    decided(&mut run, "host CPUs", ["0", "1", "0,1"]);
    let found = counted(&run);
    let machine = found.side(Side::Machine).unwrap();
    assert!(machine.unavailable.contains(&Unseen { probe: None, why: Missing::CpusOverlap }));
    // What is left is what the kernel counts of all CPUs.
    close(machine.worth("cpu.user"), 1_900.0 * WINDOW_S);
}

#[test]
fn a_sum_without_one_of_them_is_no_sum() {
    let mut run = run(1, None);
    for machine in 1..=3 {
        let name = if machine == 2 { "disk.reads" } else { "disk.writes" };
        sampled(&mut run, "kvm", machine, Side::Machine, &[steady(name, "", 50.0)]);
    }
    let found = counted(&run);
    assert_eq!(found.side(Side::Machine).unwrap().worth("disk.writes"), None);
}

/// Response times are over the transactions of all machines: sums over sums.
#[test]
fn a_machine_that_is_not_measured_is_in_no_sum() {
    let mut run = run(1, None);
    for machine in 1..=3 {
        sampled(&mut run, "kvm", machine, Side::Machine, &[steady("interrupts.total", "", 100.0)]);
    }
    let mut trial = three_machines(&run).clone();
    trial.bystander = Some(3);
    let found = of_trial(&trial).unwrap();
    close(found.side(Side::Machine).unwrap().worth("interrupts.total"), 200.0 * WINDOW_S);
    assert_eq!(found.machines.len(), 2);
}

fn rates(points: &[(f64, f64)]) -> Vec<CountedRate> {
    points.iter().map(|&(at_s, per_second)| CountedRate { at_s, per_second }).collect()
}

/// The second machine is sampled 0.4 s later, so its value at 1.5 s is interpolated between 0.9 s and 1.9 s.
#[test]
fn courses_are_added_at_the_same_moments() {
    let (one, other) = (rates(&[(0.5, 10.0), (1.5, 20.0), (9.0, 5.0)]), rates(&[(0.9, 100.0), (1.9, 200.0)]));
    assert_eq!(summed(&[&one, &other]), rates(&[(0.5, 110.0), (1.5, 20.0 + 160.0)]));
    assert_eq!(summed(&[&one]), one);
    assert_eq!(summed(&[]), []);
}

#[test]
fn numbers_of_processes_are_no_place_that_two_machines_share() {
    let found = ["/proc/82 and below", "/proc/stat", "/proc/pressure", "QEMU's query-stats"].map(is_of_a_process);
    assert_eq!(found, [true, false, false, false]);
}
