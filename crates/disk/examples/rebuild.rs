//! Builds cuts from a log and scans it, and prints what that took: a part of `cargo xtask bench disk`.
//!
//! Arguments: the base, the log, a folder for the cuts. It prints megabytes of the log, milliseconds for a cut that keeps what is
//! durable, for one that keeps torn halves of the rest, and for a scan for many markers, of which the log has some.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "its output is the times")]

mod marker;

use disk::LogReader;
use disk::cut::{Cut, Grain, Keep, build};
use disk::scan::{Acknowledged, Safety, scan};
use marker::marker;
use std::path::Path;
use std::time::Instant;

/// Of one contender's trial.
const MARKERS: u64 = 20_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [base, log, folder] = &words[..] else { panic!("three arguments, not {words:?}") };
    let (base, log, folder) = (Path::new(base), Path::new(log), Path::new(folder));
    let mut reader = LogReader::open(log).unwrap();
    while reader.next_entry().unwrap().is_some() {}
    let position = reader.entries();
    println!("{:.1}", log.metadata().unwrap().len() as f64 / 1e6);
    let torn = Keep::Subset { seed: 1, grain: Grain::Bytes512, percent: 50 };
    for keep in [Keep::Durable, torn] {
        let to = folder.join("built");
        timed(|| build(base, log, Cut { position, keep }, &to).unwrap());
        std::fs::remove_file(to).unwrap();
    }
    let markers: Vec<String> = (0..MARKERS).map(marker).collect();
    let acknowledged: Vec<_> =
        markers.iter().map(|marker| Acknowledged { marker: marker.as_bytes(), position }).collect();
    let found = timed(|| scan(log, &acknowledged).unwrap());
    assert!(found[1] != Safety::NotWritten, "the log has no row of the race");
}

fn timed<T>(work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    println!("{:.1}", begun.elapsed().as_secs_f64() * 1e3);
    done
}
