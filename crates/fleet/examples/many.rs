//! A fleet of many agents on one machine, for `cargo xtask bench fleet`.
//!
//! `many agents COUNT FILE` is all the agents, until they are asked to end. `many trial COUNT FILE BYTES` is a conductor: it starts a
//! program on each host, waits until all are ready, tells all to go on, and reads as many bytes from each as a record has. It
//! prints what that took.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use fleet::agent::{self, Me};
use fleet::bridge::{Bridge, FarProgram};
use fleet::{Arrangement, Build};
use machines::printed::Printed;
use serde_json::json;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Threads that start programs and read what they print.
const THREADS: usize = 16;
/// An agent's thread needs little.
const STACK_BYTES: usize = 256 << 10;
const LONG: Duration = Duration::from_mins(5);

fn build() -> Build {
    Build { version: "many".to_owned(), sha256: "0".repeat(64) }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (count, file) = (words[1].parse().unwrap(), Path::new(&words[2]));
    match words[0].as_str() {
        "agents" => agents(count, file),
        _ => trial(count, file, words[3].parse().unwrap()),
    }
}

fn agents(count: usize, file: &Path) {
    let arrangement = Arrangement::read(file).unwrap();
    let there = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..count {
            let (arrangement, there) = (&arrangement, &there);
            let serve = move || {
                let name = format!("host-{number}");
                let me = Me { machine: name.clone(), name, build: build() };
                let mut tell = |_: &str| {
                    if there.fetch_add(1, Ordering::Relaxed) + 1 == count {
                        println!("all are there");
                    }
                };
                agent::serve(arrangement, &me, &mut tell).unwrap();
            };
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, serve).unwrap();
        }
    });
}

/// Does something for each of the numbers below `count`, several at a time.
fn for_each(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    work(number);
                }
            });
        }
    });
}

fn trial(count: usize, file: &Path, bytes: usize) {
    let bridge = Bridge::connect(&Arrangement::read(file).unwrap(), build()).unwrap();
    let begun = Instant::now();
    let programs: Vec<Mutex<Option<FarProgram>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let script = format!("echo; read go; head -c {bytes} /dev/zero");
    for_each(count, |number| {
        let (_, errors) = Printed::pipe().unwrap();
        let mut program = bridge.run(&format!("host-{number}"), &script, errors).unwrap();
        program.output.read_exact(&mut [0]).unwrap();
        *programs[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(program);
    });
    let ready = begun.elapsed();
    let merged = AtomicUsize::new(0);
    for_each(count, |number| {
        let program = programs[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut program = program.unwrap();
        program.input.write_all(b"go\n").unwrap();
        let mut record = Vec::with_capacity(bytes);
        program.output.read_to_end(&mut record).unwrap();
        assert_eq!(program.end.wait(LONG), Some(0));
        merged.fetch_add(record.len(), Ordering::Relaxed);
    });
    let whole = begun.elapsed();
    assert_eq!(merged.into_inner(), count * bytes);
    println!(
        "{}",
        json!({
            "ready_s": ready.as_secs_f64(),
            "whole_s": whole.as_secs_f64(),
            "cpu_s": cpu_s(),
            "peak_bytes": peak_bytes(),
        })
    );
}

/// CPU time of this process so far.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / rustix::param::clock_ticks_per_second() as f64
}

fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}
