//! A server stands still for two seconds while work keeps arriving: every contestant must count the waiting.

use super::super::RaceGround;
use super::TABLE_ROWS;
use super::contestant::{self, json, number_after};
use super::scenario::Test;
use super::server::RaceServer;
use crate::bench::bar::{Bar, BarSize, median};
use crate::process;
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const RATE: &str = "500";
const SESSIONS: &str = "64";
const SECONDS: u32 = 12;
const STOP_AT: Duration = Duration::from_secs(5);
const STOPPED_FOR: Duration = Duration::from_secs(2);
const LIMIT: Duration = Duration::from_mins(2);
/// Our p99 may differ from another's by this share.
const TOLERANCE: f64 = 0.10;

pub fn compare(ground: &RaceGround, server: &RaceServer, rounds: u32) -> anyhow::Result<Vec<Bar>> {
    println!("\n{RATE} arrivals a second, the server stopped for {STOPPED_FOR:?}\n");
    let (mut of_pgbench, mut of_sysbench) = (Vec::new(), Vec::new());
    for number in 0..rounds {
        let ours = ours_p99_ms(ground, server, number + 1)?;
        let pgbench = pgbench_p99_ms(ground, server)?;
        let sysbench = sysbench_p99_ms(server)?;
        println!("round {}: p99 {ours:.0} ms, pgbench {pgbench:.0} ms, sysbench {sysbench:.0} ms", number + 1);
        of_pgbench.push((ours / pgbench - 1.0).abs());
        of_sysbench.push((ours / sysbench - 1.0).abs());
    }
    let bar = |who: &str, values| Bar {
        what: format!("stopped server: p99 differs from {who}'s by a share of"),
        found: median(values),
        asked: BarSize::AtMost(TOLERANCE),
    };
    Ok(vec![bar("pgbench", of_pgbench), bar("sysbench", of_sysbench)])
}

/// Runs the command, stops the server for a while in the middle, and returns the command's output.
fn through_a_stop(server: &RaceServer, mut command: Command) -> anyhow::Result<String> {
    let (mut stopped, mut went_on) = (false, false);
    let finished = process::run(&mut command, LIMIT, |elapsed| {
        if !stopped && elapsed >= STOP_AT {
            stopped = true;
            server.signal("STOP")?;
        }
        if !went_on && elapsed >= STOP_AT + STOPPED_FOR {
            went_on = true;
            server.signal("CONT")?;
        }
        Ok(())
    });
    if finished.is_err() {
        server.signal("CONT")?;
    }
    let finished = finished?;
    ensure!(went_on, "the command ended before the server went on:\n{}", finished.output);
    Ok(finished.output)
}

fn ours_p99_ms(ground: &RaceGround, server: &RaceServer, seed: u32) -> anyhow::Result<f64> {
    let mut command = contestant::drive(&ground.bakeoff, server, Test::PointSelect, TABLE_ROWS);
    command.args(["--arrivals", &format!("{RATE}/s"), "--sessions", SESSIONS, "--seed", &seed.to_string()]);
    command.args(["--time", &format!("{SECONDS}s"), "--warmup", "0s"]);
    let said = json(&through_a_stop(server, command)?)?;
    let p99_us =
        said["latency"][Test::PointSelect.word()]["response"]["p99_us"].as_f64().context("drive says its p99")?;
    Ok(p99_us / 1e3)
}

fn pgbench_p99_ms(ground: &RaceGround, server: &RaceServer) -> anyhow::Result<f64> {
    let prefix = ground.folder.join("pgbench_log");
    remove_logs(&ground.folder)?;
    let mut command = contestant::pgbench(ground, server, TABLE_ROWS)?;
    command.args(["--client", SESSIONS, "--time", &SECONDS.to_string(), "--rate", RATE, "--log", "--log-prefix"]);
    command.arg(&prefix);
    through_a_stop(server, command)?;
    let mut times_us = Vec::new();
    for log in logs(&ground.folder)? {
        let text = std::fs::read_to_string(&log).with_context(|| format!("reading {}", log.display()))?;
        // The third field is the time since the transaction was scheduled.
        let third = |line: &str| line.split_whitespace().nth(2).and_then(|field| field.parse::<f64>().ok());
        times_us.extend(text.lines().filter_map(third));
    }
    ensure!(!times_us.is_empty(), "pgbench wrote no log");
    times_us.sort_by(f64::total_cmp);
    Ok(times_us[(times_us.len() - 1) * 99 / 100] / 1e3)
}

fn logs(folder: &Path) -> anyhow::Result<Vec<std::path::PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    let is_log = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("pgbench_log"))
    };
    Ok(entries.flatten().map(|entry| entry.path()).filter(is_log).collect())
}

fn remove_logs(folder: &Path) -> anyhow::Result<()> {
    logs(folder)?.iter().try_for_each(|log| std::fs::remove_file(log).map_err(Into::into))
}

fn sysbench_p99_ms(server: &RaceServer) -> anyhow::Result<f64> {
    let mut command = contestant::sysbench(server, Test::PointSelect, TABLE_ROWS);
    command.args([format!("--threads={SESSIONS}"), format!("--time={SECONDS}"), format!("--rate={RATE}")]);
    command.args(["--percentile=99", "run"]);
    number_after(&through_a_stop(server, command)?, "99th percentile:")
}
