//! Tests opening and reading events on those that the kernel itself counts, since every system has them.

#![allow(clippy::print_stderr)]

use super::*;
use perf_event::events::{Event as Kind, Software};
use rustix::thread::gettid;
use std::collections::BTreeSet;
use std::path::Path;

const PAGE_FAULTS: PerfEvent = PerfEvent { name: "page_faults", kind: Kind::Software(Software::PAGE_FAULTS) };
const SWITCHES: PerfEvent = PerfEvent { name: "switches", kind: Kind::Software(Software::CONTEXT_SWITCHES) };
const TASK_CLOCK: PerfEvent = PerfEvent { name: "task_clock", kind: Kind::Software(Software::TASK_CLOCK) };
const CPU_CLOCK: PerfEvent = PerfEvent { name: "cpu_clock", kind: Kind::Software(Software::CPU_CLOCK) };

fn this_thread() -> Whose {
    Whose::Thread(u32::try_from(gettid().as_raw_nonzero().get()).expect("ids are positive"))
}

/// `None`, with a message, if this user may not count this.
fn counting(event: &PerfEvent, whose: &[Whose], mode: Mode, needs: Needs) -> Option<Counting> {
    match Counting::open(event, whose, mode) {
        Ok(counting) => Some(counting),
        Err(error) => {
            let why = refusal::why(&error, needs, refusal::paranoid());
            assert!(why.contains("perf"), "software events can only be forbidden: {why}");
            eprintln!("SKIPPED: {why}");
            None
        }
    }
}

fn read(counting: &mut Counting) -> u64 {
    counting.read().expect("an open event").estimate.expect("software events always have their turn")
}

/// The kernel's own count of this thread's switches, of both kinds.
fn switches_by_the_kernel() -> u64 {
    let status = Tree::new(Path::new("/")).text("/proc/thread-self/status").expect("every thread has one");
    let of = |key| super::super::fields::number(&status, key).expect("every kernel counts them");
    of("voluntary_ctxt_switches") + of("nonvoluntary_ctxt_switches")
}

#[test]
fn a_thread_s_switches_are_as_many_as_the_kernel_counts_elsewhere() {
    const WAITS: u64 = 1_000;
    let Some(mut counting) = counting(&SWITCHES, &[this_thread()], Mode::All, Needs::OwnThreads) else { return };
    let before = [switches_by_the_kernel(), read(&mut counting)];
    for _ in 0..WAITS {
        std::thread::park_timeout(std::time::Duration::from_micros(50));
    }
    let after = [switches_by_the_kernel(), read(&mut counting)];
    let [expected, seen] = [after[0] - before[0], after[1] - before[1]];
    // On a busy machine, some waits may end before they begin, and a switch may fall between the two readings.
    assert!(expected > WAITS / 2 && expected.abs_diff(seen) <= expected / 50, "{seen} seen of {expected}");
    assert_eq!(counting.read().expect("an open event").counted_permille, 1_000);
}

#[test]
fn another_thread_is_told_from_this_one() {
    let (tell, told) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || {
        let _ = tell.send(this_thread());
        let _ = ended.recv();
    });
    let theirs = told.recv().expect("the thread tells its number");
    let opened = [theirs, this_thread()].map(|whose| counting(&TASK_CLOCK, &[whose], Mode::All, Needs::OwnThreads));
    if let [Some(mut theirs), Some(mut ours)] = opened {
        let before = [read(&mut theirs), read(&mut ours)];
        while read(&mut ours) - before[1] < 5_000_000 {}
        assert!(read(&mut theirs) - before[0] < 5_000_000, "it waited all the time");
        drop(end);
        other.join().expect("it ends well");
        assert!(theirs.read().is_ok(), "what a thread did can be read when it has ended");
    }
}

#[test]
fn several_parts_are_added_up() {
    let Some(mut twice) = counting(&PAGE_FAULTS, &[this_thread(), this_thread()], Mode::All, Needs::OwnThreads) else {
        return;
    };
    let Some(mut once) = counting(&PAGE_FAULTS, &[this_thread()], Mode::All, Needs::OwnThreads) else { return };
    let before = [read(&mut twice), read(&mut once)];
    let room = vec![1_u8; 8 << 20];
    assert_eq!(room.iter().step_by(4_096).map(|byte| usize::from(*byte)).sum::<usize>(), (8 << 20) / 4_096);
    let after = [read(&mut twice), read(&mut once)];
    let [doubled, single] = [after[0] - before[0], after[1] - before[1]];
    assert!(single > 0, "new memory is not there until it is touched");
    // What reading and printing touch is counted in between.
    assert!((2 * single).abs_diff(doubled) * 50 <= doubled, "{doubled} is not twice {single}");
}

#[test]
fn everything_on_a_cpu_is_counted() {
    let cpus = cpus(&Tree::new(Path::new("/")), &Targets::default()).expect("this system has CPUs");
    let Some(mut counting) = counting(&CPU_CLOCK, &cpus, Mode::All, Needs::AllOfCpus) else { return };
    let before = read(&mut counting);
    while read(&mut counting) == before {}
}

/// Any event of this processor can be read, or the kernel refuses it for a known reason.
#[test]
fn events_of_the_processor_are_read_or_refused_for_a_known_reason() {
    for (event, mode) in OF_CPUS.iter().flat_map(|event| [Mode::All, Mode::Guest, Mode::Host].map(|mode| (event, mode)))
    {
        match Counting::open(event, &[this_thread()], mode) {
            Ok(mut counting) => assert!(counting.read().is_ok_and(|found| found.estimate.is_some()), "{}", event.name),
            Err(error) => {
                let why = refusal::why(&error, Needs::OwnThreads, refusal::paranoid());
                assert!(!why.contains("the kernel refuses it"), "{} {mode:?}: {why}", event.name);
            }
        }
    }
}

/// Every probe has the processor's counters where they exist, and a reason where they do not.
#[test]
fn every_probe_has_its_state_here() {
    let openings = openings(&Tree::new(Path::new("/")), &Targets::default());
    let mut files = crate::files::Files::new(Path::new("/"));
    let names: Vec<&String> = openings.iter().map(|opening| &opening.name).collect();
    assert!(names == ["perf"] || names.len() == OF_CPUS.len(), "{names:?}");
    for mut opening in openings {
        match (opening.read)(&mut files) {
            Ok(counters) => assert_eq!((counters.len(), counters[0].name.as_str()), (2, opening.name.as_str())),
            Err(why) => assert!(!why.is_empty()),
        }
    }
}

#[test]
fn one_reason_for_all_is_told_once_and_different_ones_each() {
    let nobody = [Whose::Thread(u32::MAX)];
    let told = family("perf.vcpus", &[PAGE_FAULTS, SWITCHES], &[Mode::All], &nobody, Needs::OwnThreads, 2);
    assert_eq!(told.iter().map(|opening| opening.name.as_str()).collect::<Vec<_>>(), ["perf.vcpus"]);
    if counting(&PAGE_FAULTS, &[this_thread()], Mode::All, Needs::OwnThreads).is_none() {
        return;
    }
    let threads = [this_thread(), this_thread()];
    let told = family("perf", &[PAGE_FAULTS, SWITCHES], &[Mode::All], &threads, Needs::OwnThreads, 3);
    assert_eq!(
        told.iter().map(|opening| opening.name.as_str()).collect::<Vec<_>>(),
        ["perf.page_faults", "perf.switches"]
    );
    let mut files = crate::files::Files::new(Path::new("/"));
    let why = told.into_iter().map(|mut opening| (opening.read)(&mut files).err()).next_back().flatten();
    assert!(why.is_some_and(|why| why.contains("2 open files, and 1 are left")));
}

#[test]
fn files_are_bounded_and_closed_with_what_counts() {
    let open_files = || Tree::new(Path::new("/")).names("/proc/self/fd").len();
    assert!(most_files() > 0 && fits(3, 3).is_ok() && fits(4, 3).is_err());
    let many = vec![this_thread(); 64];
    let Some(counting) = counting(&PAGE_FAULTS, &many, Mode::All, Needs::OwnThreads) else { return };
    let with_events = open_files();
    drop(counting);
    // Other tests of this process open and close files meanwhile, but not as many.
    assert!(open_files() + 40 < with_events, "{with_events}");
}

#[test]
fn a_recorded_system_has_no_processor_to_ask() {
    let root = tempfile::tempdir().expect("a folder for temporary files");
    assert_eq!(
        processor(&Tree::new(root.path())),
        Err("/sys/bus/event_source/devices shows no counters of the processor".to_owned())
    );
    std::fs::create_dir_all(root.path().join("sys/bus/event_source/devices/cpu")).expect("room for it");
    assert!(processor(&Tree::new(root.path())).is_err_and(|why| why.contains("not its processor")));
    let shape = Targets { cpus: Some(BTreeSet::from([3, 5])), ..Targets::default() };
    assert_eq!(cpus(&Tree::new(root.path()), &shape), Ok(vec![Whose::Cpu(3), Whose::Cpu(5)]));
}
