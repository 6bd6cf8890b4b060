//! Prints how many transactions a second are rehearsed, and how long a rehearsal of ten hours takes. Times are CPU
//! time, which other load on the machine affects least.
//!
//! `cargo run --release -p driver --example rehearsed`

#![allow(clippy::print_stdout, reason = "this program is its output")]

use driver::error::DriveError;
use driver::plan::{ArrivalProcess, Control, DrivePlan, Pacing};
use driver::{ServiceTimes, rehearse};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Map;
use std::time::Duration;
use workloads::catalog::AnyWorkload;

const HOUR_S: u64 = 3_600;

/// Name, pacing, milliseconds of each transaction, and seconds of driving.
const CASES: [(&str, Pacing, u64, u64); 5] = [
    ("one client, ten hours", Pacing::Clients { clients: 1 }, 100, 10 * HOUR_S),
    ("10 clients", Pacing::Clients { clients: 10 }, 10, HOUR_S / 2),
    ("1000 clients", Pacing::Clients { clients: 1_000 }, 1_000, HOUR_S / 2),
    ("10000 terminals", Pacing::Terminals { terminals: 10_000, sessions: 100 }, 10, HOUR_S / 2),
    (
        "1000 arrivals/s",
        Pacing::Arrivals { per_second: 1_000.0, process: ArrivalProcess::Poisson, sessions: 100 },
        10,
        HOUR_S / 2,
    ),
];

fn rehearsed(
    workload: &AnyWorkload,
    pacing: Pacing,
    service: &ServiceTimes,
    measure_s: u64,
) -> Result<u64, DriveError> {
    let plan = DrivePlan { shards: 1, ..DrivePlan::timed(pacing, 0, measure_s * 1_000, 1) };
    let driven = rehearse(workload, &plan, service, &Control::default(), &mut |_| ())?;
    Ok(driven.facts.work.transactions)
}

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn main() -> Result<(), DriveError> {
    println!("{:<14} {:<22} {:>12} {:>8} {:>12} {:>12}", "workload", "pacing", "done", "took", "done/s", "seconds/s");
    for entry in workloads::catalog::WORKLOADS {
        let Ok(workload) = AnyWorkload::from_table(entry.kind, &Map::new()) else { continue };
        for (name, pacing, millis, measure_s) in CASES {
            let service = ServiceTimes::of_all(Duration::from_millis(millis)).varied(0.3);
            let began = cpu_s();
            let done = rehearsed(&workload, pacing, &service, measure_s)?;
            let took = cpu_s() - began;
            let (each_second, seconds) = (done as f64 / took, measure_s as f64 / took);
            println!("{:<14} {name:<22} {done:>12} {took:>6.2} s {each_second:>12.0} {seconds:>12.0}", entry.kind);
        }
    }
    Ok(())
}
