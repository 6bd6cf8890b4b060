//! The contestants, how each is started, and how its figures are read.

use super::super::RaceGround;
use super::scenario::{Scenario, Test};
use super::server::{Product, RaceServer};
use crate::process::{self, Finished};
use anyhow::{Context, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where Debian keeps PostgreSQL's own programs.
const PGBENCH: &str = "/usr/lib/postgresql/15/bin/pgbench";
/// Threads for every contestant that has the option: as many as these machines have CPUs.
pub const THREADS: &str = "2";
/// bakeoff's exit code if the driver was disturbed too much for a study. Here that is part of what is measured, and the
/// figures show it.
const INVALID: i32 = 4;
/// How much longer than its measuring time a contestant may take to connect and to end.
const ALLOWANCE: Duration = Duration::from_mins(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverContestant {
    Bakeoff,
    /// Another bakeoff, usually an older one.
    Before,
    Pgbench,
    Sysbench,
}

/// Where the programs are.
#[derive(Clone, Copy)]
pub struct RacePrograms<'a> {
    pub ground: &'a RaceGround,
    /// If set, it is the only opponent.
    pub before: Option<&'a Path>,
}

/// One turn of a contestant.
pub struct ContestantRun<'a> {
    pub server: &'a RaceServer,
    pub scenario: &'a Scenario,
    pub rows: u32,
    pub seconds: u32,
    pub seed: u32,
}

/// The result of a turn.
#[derive(Debug, Clone, Copy)]
pub struct TurnResult {
    pub statements: f64,
    pub seconds: f64,
    pub cpu_s: f64,
}

impl TurnResult {
    pub fn cpu_us(&self) -> f64 {
        self.cpu_s * 1e6 / self.statements
    }

    pub fn rate(&self) -> f64 {
        self.statements / self.seconds
    }

    pub fn line(&self, name: &str) -> String {
        format!("{name}: {:.2} µs of CPU per statement, {:.0} statements/s", self.cpu_us(), self.rate())
    }
}

impl RacePrograms<'_> {
    /// Fails if something is not installed, before anything is started.
    pub fn are_installed(self) -> anyhow::Result<()> {
        if let Some(before) = self.before {
            ensure!(before.is_file(), "{} is no program: --before takes another bakeoff", before.display());
            return Ok(());
        }
        ensure!(Path::new(PGBENCH).exists(), "{PGBENCH} is missing: scripts/packages --races installs it");
        let found = Command::new("sysbench").arg("--version").output();
        found.context("sysbench is missing: scripts/packages --races installs it")?;
        Ok(())
    }

    /// The contestants of a scenario; the first is ours.
    pub fn that_run(self, scenario: &Scenario) -> Vec<DriverContestant> {
        if self.before.is_some() {
            return vec![DriverContestant::Bakeoff, DriverContestant::Before];
        }
        let pgbench = scenario.of_pgbench.map(|_| DriverContestant::Pgbench);
        [Some(DriverContestant::Bakeoff), pgbench, Some(DriverContestant::Sysbench)].into_iter().flatten().collect()
    }

    /// The command line of `bakeoff drive`, for the current or the older bakeoff.
    pub fn drive(self, contestant: DriverContestant, server: &RaceServer, test: Test, rows: u32) -> Command {
        let older = self.before.filter(|_| contestant == DriverContestant::Before);
        drive(older.unwrap_or(&self.ground.bakeoff), server, test, rows)
    }
}

/// Creates and fills the table that all contestants use.
pub fn load(ground: &RaceGround, server: &RaceServer, rows: u32) -> anyhow::Result<()> {
    let mut command = drive(&ground.bakeoff, server, Test::PointSelect, rows);
    process::run(command.args(["--steps", "load"]), ALLOWANCE, |_| Ok(())).context("loading")?;
    Ok(())
}

/// The part of our command line that all scenarios share.
pub fn drive(bakeoff: &Path, server: &RaceServer, test: Test, rows: u32) -> Command {
    let mut command = Command::new(bakeoff);
    command.args(["drive", "sysbench-oltp", &server.url(), "--json", "--shards", THREADS]);
    command.args(["--set", &format!("test={}", test.word()), "--set", "rand_type=uniform"]);
    command.args(["--set", "tables=1", "--set", &format!("table_size={rows}")]);
    command
}

/// sysbench with its script, and the options to reach the server.
pub fn sysbench(server: &RaceServer, test: Test, rows: u32) -> Command {
    let mut command = Command::new("sysbench");
    command.arg(format!("oltp_{}", test.word()));
    match server.product {
        Product::Postgres => command.args([
            "--db-driver=pgsql".to_owned(),
            format!("--pgsql-host={}", server.host),
            format!("--pgsql-port={}", server.port),
            format!("--pgsql-user={}", server.user),
            format!("--pgsql-db={}", server.database),
        ]),
        Product::Mariadb => command.args([
            "--db-driver=mysql".to_owned(),
            format!("--mysql-socket={}", server.host),
            format!("--mysql-user={}", server.user),
            format!("--mysql-db={}", server.database),
        ]),
    };
    command.args(["--tables=1", "--rand-type=uniform", &format!("--table-size={rows}")]);
    command
}

/// pgbench with our script, which does what sysbench's point select does.
pub fn pgbench(ground: &RaceGround, server: &RaceServer, rows: u32) -> anyhow::Result<Command> {
    let script: PathBuf = ground.folder.join("point_select.sql");
    let text = format!("\\set id random(1, {rows})\nSELECT c FROM sbtest1 WHERE id = :id;\n");
    std::fs::write(&script, text).with_context(|| format!("writing {}", script.display()))?;
    let mut command = Command::new(PGBENCH);
    command.args(["--no-vacuum", "--protocol", "prepared", "--jobs", THREADS, "--file"]).arg(script);
    command.args(["--host", &server.host, "--port", &server.port, "--username", &server.user, &server.database]);
    Ok(command)
}

impl DriverContestant {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bakeoff => "bakeoff",
            Self::Before => "the bakeoff before",
            Self::Pgbench => "pgbench",
            Self::Sysbench => "sysbench",
        }
    }

    pub fn run(self, programs: RacePrograms<'_>, run: &ContestantRun<'_>) -> anyhow::Result<TurnResult> {
        let ContestantRun { server, scenario, rows, seconds, seed } = *run;
        let (clients, time, seed) = (scenario.clients.to_string(), seconds.to_string(), seed.to_string());
        let command = match self {
            Self::Bakeoff | Self::Before => {
                let mut command = programs.drive(self, server, scenario.test, rows);
                command.args(["--clients", &clients, "--time", &format!("{time}s"), "--warmup", "0s"]);
                command.args(["--seed", &seed]);
                command
            }
            Self::Pgbench => {
                let mut command = pgbench(programs.ground, server, rows)?;
                command.args(["--client", &clients, "--time", &time, "--random-seed", &seed]);
                command
            }
            Self::Sysbench => {
                let mut command = sysbench(server, scenario.test, rows);
                command.args([format!("--threads={clients}"), format!("--time={time}"), format!("--rand-seed={seed}")]);
                command.arg("run");
                command
            }
        };
        let finished = run_to_end(command, seconds)?;
        self.sample(&finished, scenario.test)
    }

    pub fn sample(self, finished: &Finished, test: Test) -> anyhow::Result<TurnResult> {
        let output = &finished.output;
        let (transactions, seconds) = match self {
            Self::Bakeoff | Self::Before => {
                let said = json(output)?;
                (committed(&said)?, driven_seconds(&said)?)
            }
            Self::Pgbench => {
                let transactions = number_after(output, "number of transactions actually processed: ")?;
                (transactions, transactions / number_after(output, "tps = ")?)
            }
            Self::Sysbench => {
                let transactions = number_after(output, "transactions:")?;
                (transactions, number_after(output, "total time:")?)
            }
        };
        let statements = transactions * test.statements();
        ensure!(statements > 0.0, "{} did nothing:\n{output}", self.name());
        Ok(TurnResult { statements, seconds, cpu_s: finished.cpu_s })
    }
}

pub fn run_to_end(mut command: Command, seconds: u32) -> anyhow::Result<Finished> {
    let limit = Duration::from_secs(seconds.into()) + ALLOWANCE;
    process::run_allowing(&[0, INVALID], &mut command, limit, |_| Ok(()))
}

/// The last line of `bakeoff drive --json`, which has the totals.
pub fn json(text: &str) -> anyhow::Result<Value> {
    let last = text.lines().last().context("drive said nothing")?;
    serde_json::from_str(last).with_context(|| format!("this is not JSON: {last}"))
}

fn committed(said: &Value) -> anyhow::Result<f64> {
    // Warming up costs CPU time, too.
    let kinds = said["driver"]["whole_run"].as_array().context("drive says what it did")?;
    Ok(kinds.iter().filter_map(|kind| kind["committed"].as_f64()).sum())
}

fn driven_seconds(said: &Value) -> anyhow::Result<f64> {
    let millis = |key: &str| said["driver"][key].as_f64().context("drive says how long it drove");
    Ok((millis("warmup_ms")? + millis("measured_ms")?) / 1e3)
}

/// The number that follows these words.
pub fn number_after(text: &str, words: &str) -> anyhow::Result<f64> {
    let rest = text.split_once(words).with_context(|| format!("{words:?} is not in:\n{text}"))?.1.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    rest[..end].parse().with_context(|| format!("no number after {words:?} in:\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_where_each_puts_them() {
        let finished = |output: &str| Finished { output: output.to_owned(), cpu_s: 1.0, peak_memory_bytes: 0 };
        let pgbench = finished("number of transactions actually processed: 5000\ntps = 1000.5 (without …)\n");
        let sample = DriverContestant::Pgbench.sample(&pgbench, Test::PointSelect).unwrap();
        assert!((sample.statements - 5000.0).abs() < 1e-6);
        assert!((sample.rate() - 1000.5).abs() < 1e-6);
        let sysbench =
            finished("    transactions:                        100    (49.9 per sec.)\n    total time:  2.0040s\n");
        let sample = DriverContestant::Sysbench.sample(&sysbench, Test::ReadWrite).unwrap();
        assert!((sample.statements - 2000.0).abs() < 1e-6 && (sample.seconds - 2.004).abs() < 1e-6);
        let said =
            r#"{"driver": {"warmup_ms": 500, "measured_ms": 3500, "whole_run": [{"committed": 3}, {"committed": 4}]}}"#;
        let sample = DriverContestant::Bakeoff.sample(&finished(said), Test::PointSelect).unwrap();
        assert!((sample.statements - 7.0).abs() < 1e-6 && (sample.seconds - 4.0).abs() < 1e-6);
        assert!(DriverContestant::Pgbench.sample(&finished("nothing"), Test::PointSelect).is_err());
    }
}
