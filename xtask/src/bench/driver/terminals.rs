//! 200,000 terminals on 256 sessions, against pgbench limited to the same rate. pgbench has no terminals: it starts
//! transactions at random moments, which costs a driver the same wake-ups.

use super::super::RaceGround;
use super::TABLE_ROWS;
use super::contestant::{self, DriverContestant, RacePrograms, TurnResult, run_to_end};
use super::scenario::Test;
use super::server::RaceServer;
use super::summary::MOST_CPU;
use crate::bench::bar::{Bar, BarSize, median};
use anyhow::Context;

const TERMINALS: &str = "200000";
const SESSIONS: &str = "256";
/// Mean think time, which results in about 9,500 starts per second.
const THINK: &str = "21s";
/// The server does not keep up while each of its processes serves for the first time. Lateness has a limit only once it
/// does.
const WARMUP: &str = "3s";
const MEMORY_LIMIT_MB: f64 = 150.0;
const LATENESS_LIMIT_US: f64 = 1_000.0;

/// The result of one turn of ours.
struct TerminalTurn {
    sample: TurnResult,
    megabytes: f64,
    lateness_us: f64,
}

pub fn compare(programs: RacePrograms<'_>, server: &RaceServer, rounds: u32, seconds: u32) -> anyhow::Result<Vec<Bar>> {
    println!("\n{TERMINALS} terminals on {SESSIONS} sessions, think time {THINK}\n");
    let mut turns = Vec::new();
    let mut shares = Vec::new();
    for number in 1..=rounds {
        let turn = |who| drive(programs, who, server, seconds, number);
        let (ours, theirs) = if programs.before.is_none() {
            let ours = turn(DriverContestant::Bakeoff)?;
            let theirs = paced_pgbench(programs.ground, server, &ours.sample, seconds)?;
            println!("round {number}: {}", theirs.line("pgbench"));
            (ours, theirs)
        } else if number % 2 == 0 {
            let theirs = turn(DriverContestant::Before)?.sample;
            (turn(DriverContestant::Bakeoff)?, theirs)
        } else {
            (turn(DriverContestant::Bakeoff)?, turn(DriverContestant::Before)?.sample)
        };
        shares.push(ours.sample.cpu_us() / theirs.cpu_us());
        turns.push(ours);
    }
    let bar = |what: &str, values, most| Bar {
        what: format!("{TERMINALS} terminals: {what}"),
        found: median(values),
        asked: BarSize::AtMost(most),
    };
    let (of, most) = programs.before.map_or(("of pgbench -R", 1.0), |_| ("of the bakeoff before", MOST_CPU));
    Ok(vec![
        bar("memory, MB", turns.iter().map(|turn| turn.megabytes).collect(), MEMORY_LIMIT_MB),
        bar("lateness p99, µs", turns.iter().map(|turn| turn.lateness_us).collect(), LATENESS_LIMIT_US),
        bar(&format!("CPU per statement, {of}"), shares, most),
    ])
}

fn drive(
    programs: RacePrograms<'_>,
    contestant: DriverContestant,
    server: &RaceServer,
    seconds: u32,
    seed: u32,
) -> anyhow::Result<TerminalTurn> {
    let mut command = programs.drive(contestant, server, Test::PointSelect, TABLE_ROWS);
    command.args(["--terminals", TERMINALS, "--sessions", SESSIONS, "--set", &format!("think={THINK}")]);
    command.args(["--time", &format!("{seconds}s"), "--warmup", WARMUP, "--seed", &seed.to_string()]);
    let finished = run_to_end(command, seconds)?;
    let sample = contestant.sample(&finished, Test::PointSelect)?;
    let said = contestant::json(&finished.output)?;
    let lateness_us = said["driver"]["testimony"]["lateness_p99_us"].as_f64().context("drive says how late it was")?;
    let megabytes = finished.peak_memory_bytes as f64 / 1e6;
    let line = sample.line(contestant.name());
    println!("round {seed}: {line}, {megabytes:.0} MB, lateness p99 {lateness_us:.0} µs");
    Ok(TerminalTurn { sample, megabytes, lateness_us })
}

fn paced_pgbench(
    ground: &RaceGround,
    server: &RaceServer,
    like: &TurnResult,
    seconds: u32,
) -> anyhow::Result<TurnResult> {
    let mut command = contestant::pgbench(ground, server, TABLE_ROWS)?;
    command.args(["--client", SESSIONS, "--time", &seconds.to_string(), "--rate", &format!("{:.0}", like.rate())]);
    DriverContestant::Pgbench.sample(&run_to_end(command, seconds)?, Test::PointSelect)
}
