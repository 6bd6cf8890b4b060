//! Decision support: loading scale 1 of orders against psql, and what our session costs over psql for the same 22 questions.

use super::Ground;
use super::bar::{Asked, Bar, median, spread, verdict};
use super::driver::contestant::{json, run_to_end};
use super::driver::server::{Product, Server};
use super::load::Load;
use super::table::Source;
use crate::process::{self, Finished};
use anyhow::{Context, ensure};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const WRITERS: u32 = 2;
const QUESTIONS: usize = 22;
const MOST_OVERHEAD: f64 = 1.01;
/// No round takes longer.
const LIMIT: Duration = Duration::from_mins(30);
/// How the server's log introduces a question of ours.
const ASKED: &str = "execute <unnamed>: ";
const LIMIT_OF_TIME: &str = "SET statement_timeout";

pub fn race(ground: &Ground, rounds: u32) -> anyhow::Result<()> {
    let orders = Load {
        source: Source { workload: "decision-support-h", size: "scale=1".to_owned() },
        settings: json!({ "scale": 1 }),
        sql: "crates/workloads/src/decision_support_h/sql",
        placeholders: vec![("{order_key}", "INTEGER".to_owned())],
        writers: WRITERS,
    };
    verdict(&[orders.bar(ground, rounds, "scale 1")?, asking(ground, rounds)?])
}

/// The time of the questions of a power phase, against psql's for the same texts on the same server.
fn asking(ground: &Ground, rounds: u32) -> anyhow::Result<Bar> {
    let (in_memory, _emptied) = ground.in_memory()?;
    let server = Server::start(&in_memory, Product::Postgres)?;
    drive(ground, &server, "load")?;
    let questions = questions(ground, &in_memory, &server)?;
    let mut ratios = Vec::new();
    let mut peak_bytes = 0;
    for round in 1..=rounds {
        let mut of_ours = || {
            let finished = drive(ground, &server, "run")?;
            peak_bytes = peak_bytes.max(finished.peak_memory_bytes);
            power_s(&finished.output)
        };
        let of_psql = || psql_s(&server, &questions);
        let (ours, theirs) = if round % 2 == 0 {
            let ours = of_ours()?;
            (ours, of_psql()?)
        } else {
            let theirs = of_psql()?;
            (of_ours()?, theirs)
        };
        println!("round {round}: {ours:.3} s for {QUESTIONS} questions, {theirs:.3} s by psql");
        ratios.push(ours / theirs);
    }
    server.stop()?;
    println!("{QUESTIONS} questions: {} times psql's time", spread(ratios.clone()));
    println!("the load engine held {} MiB at most, with the rows that it refreshes", peak_bytes >> 20);
    Ok(Bar {
        what: format!("time of {QUESTIONS} questions, of psql's"),
        found: median(ratios),
        asked: Asked::AtMost(MOST_OVERHEAD),
    })
}

/// Always with the same parameters of questions.
fn drive(ground: &Ground, server: &Server, steps: &str) -> anyhow::Result<Finished> {
    let mut command = Command::new(&ground.bakeoff);
    command.args(["drive", "decision-support-h", &server.url(), "--json", "--seed", "1", "--steps", steps]);
    run_to_end(command, u32::try_from(LIMIT.as_secs())?)
}

/// The sum over the questions of the phase in which one stream asks them.
fn power_s(output: &str) -> anyhow::Result<f64> {
    let said = json(output)?;
    let times = said["phases"][0]["mean_us"].as_object().context("drive says how long each question took")?;
    ensure!(times.len() == QUESTIONS, "there are {} questions", times.len());
    Ok(times.values().filter_map(serde_json::Value::as_f64).sum::<f64>() / 1e6)
}

fn psql(server: &Server) -> Command {
    let mut command = Command::new("psql");
    command.args([
        "--no-psqlrc",
        "--set",
        "ON_ERROR_STOP=1",
        "--host",
        &server.host,
        "--port",
        &server.port,
        "--username",
        &server.user,
    ]);
    command.arg(&server.database);
    command
}

/// The sum of what psql says of each question. Its own formatting of the answers is not in it.
fn psql_s(server: &Server, questions: &Path) -> anyhow::Result<f64> {
    let mut command = psql(server);
    command.args(["--output", "/dev/null", "--command", "\\timing on", "--file"]).arg(questions);
    let output = process::run(&mut command, LIMIT, |_| Ok(()))?.output;
    let times = output.lines().filter_map(|line| line.strip_prefix("Time: ")?.split(' ').next()?.parse::<f64>().ok());
    let times: Vec<f64> = times.collect();
    ensure!(times.len() == QUESTIONS, "psql timed {} questions:\n{output}", times.len());
    Ok(times.iter().sum::<f64>() / 1e3)
}

/// A script of the questions in the order of the power phase, from the log of a server that is told to write them down once.
fn questions(ground: &Ground, in_memory: &Ground, server: &Server) -> anyhow::Result<PathBuf> {
    log_statements(server, "all")?;
    drive(ground, server, "run")?;
    log_statements(server, "none")?;
    let text = fs::read_to_string(server.log()).with_context(|| format!("reading {}", server.log().display()))?;
    // A question follows the limit of its time. Other statements look at the tables before anything is asked.
    let mut is_next = false;
    let asked = text.split("LOG:  ").filter_map(|entry| {
        let (sql, _) = entry.strip_prefix(ASKED)?.rsplit_once('\n')?;
        let is_question = std::mem::replace(&mut is_next, sql.starts_with(LIMIT_OF_TIME)) && !is_next;
        is_question.then(|| format!("{sql};\n"))
    });
    let script: Vec<String> = asked.take(QUESTIONS).collect();
    ensure!(script.len() == QUESTIONS, "the server logged {} questions", script.len());
    let file = in_memory.folder.join("questions.sql");
    fs::write(&file, script.concat()).with_context(|| format!("writing {}", file.display()))?;
    Ok(file)
}

fn log_statements(server: &Server, which: &str) -> anyhow::Result<()> {
    let mut command = psql(server);
    command.args(["--command", &format!("ALTER SYSTEM SET log_statement = '{which}'")]);
    command.args(["--command", "SELECT pg_reload_conf()"]);
    process::run(&mut command, LIMIT, |_| Ok(())).map(|_| ())
}
