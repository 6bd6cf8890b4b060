//! Loads of known size on the running kernel, which the probes must see within 2 %.
//!
//! Counters that this kernel lacks and tests that need root are skipped with a message; under `REQUIRE=root` the latter fail.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

use record::telemetry::{Sample, Side};
use rustix::fs::OFlags;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use telemetry::{DiskLocation, DiskTarget, FamilyTarget, Interfaces, Sampler, Targets, ThreadTarget};

const TOLERANCE: f64 = 0.02;

fn open(targets: &Targets) -> Sampler {
    Sampler::open(Side::Host, Path::new("/"), targets, Vec::new())
}

/// The growth of a column between two samples; `None` if it is not counted here.
fn grown(sampler: &Sampler, [before, after]: &[Sample; 2], name: &str) -> Option<u64> {
    let Some(place) = sampler.columns().iter().position(|column| column.name == name) else {
        let probes = sampler.probes().iter().filter_map(|probe| probe.columns.why_not());
        eprintln!("SKIPPED: this kernel does not count {name} ({})", probes.collect::<Vec<_>>().join(" | "));
        return None;
    };
    Some(after.values[place].expect(name) - before.values[place].expect(name))
}

#[track_caller]
fn assert_near(seen: Option<u64>, expected: u64) {
    let Some(seen) = seen else { return };
    let off = (seen as f64 - expected as f64).abs() / expected as f64;
    assert!(off <= TOLERANCE, "{seen} seen of {expected}");
}

/// Does the work in a thread of its own, with a sample before and after it while that thread exists.
fn around<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> (Sampler, [Sample; 2], T) {
    let (tell, told) = channel();
    let (order, ordered) = channel::<()>();
    let thread = std::thread::spawn(move || {
        let _ = tell.send((gettid().as_raw_nonzero().get(), None));
        let _ = ordered.recv();
        let done = work();
        let _ = tell.send((0, Some(done)));
        let _ = ordered.recv();
    });
    let next = |told: &Receiver<_>| told.recv_timeout(Duration::from_mins(1)).expect("the thread goes on");
    let (id, _) = next(&told);
    let thread_target = ThreadTarget {
        label: "load.0".to_owned(),
        process: std::process::id(),
        thread: u32::try_from(id).expect("ids are positive"),
    };
    let mut sampler = open(&Targets { threads: vec![thread_target], ..Targets::default() });
    let before = sampler.sample(0);
    order.send(()).expect("the thread waits");
    let (_, done) = next(&told);
    let after = sampler.sample(0);
    order.send(()).expect("the thread waits");
    thread.join().expect("the thread ends well");
    (sampler, [before, after], done.expect("the work is done"))
}

#[test]
fn context_switches_of_a_thread_that_waits_so_many_times() {
    const TIMERS: u64 = 2_000;
    // A busy machine lets some of the timers expire before the thread waits, so it reads itself how often it waited.
    let own_waits = || {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("the thread's own state");
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count.map_or(0, |count| count.trim().parse::<u64>().expect("a count"))
    };
    let (sampler, ends, waits) = around(move || {
        let before = own_waits();
        for _ in 0..TIMERS {
            // Nobody unparks it, so each iteration is at most one wait for a timer.
            std::thread::park_timeout(Duration::from_micros(50));
        }
        own_waits() - before
    });
    assert!((TIMERS / 2..=TIMERS + TIMERS / 50).contains(&waits), "{waits} waits");
    assert_near(grown(&sampler, &ends, "load.0.voluntary"), waits);
    let all = grown(&sampler, &ends, "switches.context").expect("every kernel counts them");
    assert!(all as f64 >= 2.0 * waits as f64 * (1.0 - TOLERANCE), "each wait is a switch away and one back, of {all}");
}

#[test]
fn moves_of_a_thread_from_cpu_to_cpu() {
    const MOVES: u64 = 1_000;
    let allowed = sched_getaffinity(None).expect("every process has CPUs");
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).take(2).collect();
    let &[one, other] = cpus.as_slice() else {
        eprintln!("SKIPPED: there is only one CPU to be on");
        return;
    };
    let pin = |cpu| {
        let mut only = CpuSet::new();
        only.set(cpu);
        sched_setaffinity(None, &only).expect("a CPU that is allowed");
    };
    let (sampler, ends, ()) = around(move || {
        for _ in 0..MOVES / 2 {
            pin(one);
            pin(other);
        }
    });
    assert_near(grown(&sampler, &ends, "load.0.migrations"), MOVES);
}

#[test]
fn time_that_a_thread_worked() {
    let own_ns = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
    };
    let (sampler, ends, worked_ns) = around(move || {
        let begun = own_ns();
        while own_ns() - begun < 300_000_000 {}
        own_ns() - begun
    });
    assert_near(grown(&sampler, &ends, "load.0.run"), worked_ns);
}

#[test]
fn work_of_a_family_whose_members_have_ended() {
    let process = std::process::id();
    let family = FamilyTarget { label: "family".to_owned(), process, without_threads: [].into(), with_switches: false };
    let mut sampler = open(&Targets { families: vec![family], ..Targets::default() });
    let before = sampler.sample(0);
    let mut child = Command::new("sh").args(["-c", "read line"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let between = sampler.sample(0);
    let place = |name: &str| sampler.columns().iter().position(|column| column.name == name).expect(name);
    let (members, run) = (place("family.processes"), place("family.run"));
    assert!(between.values[members] > before.values[members], "{between:?}");
    drop(child.stdin.take());
    child.wait().unwrap();
    let after = sampler.sample(0);
    assert!(after.values[run] >= between.values[run], "sums do not shrink");
}

#[test]
fn packets_sent_to_ourselves() {
    const PACKETS: u64 = 1_000;
    let interfaces = Interfaces::Named(vec!["lo".to_owned()]);
    let mut sampler = open(&Targets { interfaces, ..Targets::default() });
    let before = sampler.sample(0);
    let to = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let from = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..PACKETS {
        from.send_to(&[0; 100], to.local_addr().unwrap()).unwrap();
    }
    let after = sampler.sample(0);
    let sent = grown(&sampler, &[before, after], "network.lo.sent_packets").expect("every kernel has lo");
    assert!(sent >= PACKETS, "others may have sent more, but not less: {sent}");
}

const BLOCK: usize = 64 << 10;
const BLOCKS: u64 = 500;
const FLUSHES: u64 = 100;

#[test]
fn writes_of_known_size_to_a_device_of_our_own() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("disk.img");
    File::create(&image).and_then(|file| file.set_len(64 << 20)).unwrap();
    let Some((name, mut device)) = loop_device(&image) else {
        let required = std::env::var("REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "root"));
        assert!(!required, "REQUIRE has root, and no loop device can be had");
        eprintln!("SKIPPED: no loop device can be had");
        return;
    };
    let disk = DiskTarget { label: "data".to_owned(), location: DiskLocation::Device(name) };
    let mut sampler = open(&Targets { disks: vec![disk], ..Targets::default() });
    let before = sampler.sample(0);
    let room = vec![7_u8; 2 * BLOCK];
    let block = &room[room.as_ptr().align_offset(4_096)..][..BLOCK];
    for _ in 0..BLOCKS {
        device.write_all(block).unwrap();
    }
    let written = sampler.sample(0);
    for _ in 0..FLUSHES {
        device.sync_data().unwrap();
    }
    let flushed = sampler.sample(0);
    let ends = [before, written.clone()];
    assert_near(grown(&sampler, &ends, "disk.data.writes"), BLOCKS);
    assert_near(grown(&sampler, &ends, "disk.data.write_bytes"), BLOCKS * BLOCK as u64);
    let ends = [written, flushed];
    assert_eq!(grown(&sampler, &ends, "disk.data.write_bytes"), Some(0), "a flush writes nothing");
    assert_near(grown(&sampler, &ends, "disk.data.flushes"), FLUSHES);
}

/// The image as a block device, which is released when the file is closed, whatever happens.
fn loop_device(image: &Path) -> Option<(String, File)> {
    let made = Command::new("losetup").args(["--find", "--show"]).arg(image).output().ok()?;
    if !made.status.success() {
        return None;
    }
    let path = String::from_utf8(made.stdout).ok()?.trim().to_owned();
    let direct = i32::try_from(OFlags::DIRECT.bits()).ok()?;
    let opened = OpenOptions::new().read(true).write(true).custom_flags(direct).open(&path);
    // Since it is in use, it is detached when its last user closes it.
    let let_go = Command::new("losetup").args(["--detach", &path]).status();
    assert!(let_go.is_ok_and(|status| status.success()), "{path} stays behind");
    Some((path.strip_prefix("/dev/")?.to_owned(), opened.ok()?))
}
