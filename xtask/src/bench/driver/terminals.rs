//! 200,000 terminals on 256 sessions, against pgbench held to the same rate. pgbench has no terminals: it starts
//! transactions at random moments, which costs a driver the same wake-ups.

use super::super::Ground;
use super::TABLE_ROWS;
use super::contestant::{self, Contestant, Sample, run_to_end};
use super::scenario::Test;
use super::server::Server;
use crate::bench::bar::{Asked, Bar, median};
use anyhow::Context;

const TERMINALS: &str = "200000";
const SESSIONS: &str = "256";
/// Mean think time, which makes for about 9,500 starts a second.
const THINK: &str = "21s";
/// The server does not keep up while each of its processes serves for the first time, and how late we were is asked only
/// of when it does.
const WARMUP: &str = "3s";
const MEMORY_LIMIT_MB: f64 = 150.0;
const LATENESS_LIMIT_US: f64 = 1_000.0;

pub fn compare(ground: &Ground, server: &Server, rounds: u32, seconds: u32) -> anyhow::Result<Vec<Bar>> {
    println!("\n{TERMINALS} terminals on {SESSIONS} sessions, think time {THINK}\n");
    let (mut memory, mut lateness, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..rounds {
        let mut ours = contestant::drive(ground, server, Test::PointSelect, TABLE_ROWS);
        ours.args(["--terminals", TERMINALS, "--sessions", SESSIONS, "--set", &format!("think={THINK}")]);
        ours.args(["--time", &format!("{seconds}s"), "--warmup", WARMUP, "--seed", &(number + 1).to_string()]);
        let finished = run_to_end(ours, seconds)?;
        let sample = Contestant::Bakeoff.sample(&finished, Test::PointSelect)?;
        let said = contestant::json(&finished.output)?;
        let late = said["driver"]["testimony"]["lateness_p99_us"].as_f64().context("drive says how late it was")?;
        let theirs = paced_pgbench(ground, server, &sample, seconds)?;
        let megabytes = finished.peak_memory_bytes as f64 / 1e6;
        println!("round {}: {}, {megabytes:.0} MB, lateness p99 {late:.0} µs", number + 1, sample.line("bakeoff"));
        println!("round {}: {}", number + 1, theirs.line("pgbench"));
        memory.push(megabytes);
        lateness.push(late);
        shares.push(sample.cpu_us() / theirs.cpu_us());
    }
    let bar = |what: &str, values, most| Bar {
        what: format!("{TERMINALS} terminals: {what}"),
        found: median(values),
        asked: Asked::AtMost(most),
    };
    Ok(vec![
        bar("memory, MB", memory, MEMORY_LIMIT_MB),
        bar("lateness p99, µs", lateness, LATENESS_LIMIT_US),
        bar("CPU per statement, of pgbench -R", shares, 1.0),
    ])
}

fn paced_pgbench(ground: &Ground, server: &Server, like: &Sample, seconds: u32) -> anyhow::Result<Sample> {
    let mut command = contestant::pgbench(ground, server, TABLE_ROWS)?;
    command.args(["--client", SESSIONS, "--time", &seconds.to_string(), "--rate", &format!("{:.0}", like.rate())]);
    Contestant::Pgbench.sample(&run_to_end(command, seconds)?, Test::PointSelect)
}
