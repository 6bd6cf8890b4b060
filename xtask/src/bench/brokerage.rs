//! The brokerage house: loading it against psql, generating its rows, and the load engine's CPU for its statements.

use super::Ground;
use super::bar::{Asked, Bar, median, spread, verdict};
use super::driver::contestant::{self, json, run_to_end};
use super::driver::scenario::Test;
use super::driver::server::{Product, Server};
use super::load::Load;
use super::table::{self, Source};
use anyhow::Context;
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::Instant;

const DAYS: u32 = 25;
const CUSTOMERS: u64 = 1_000;
const SCALE_FACTOR: u64 = 500;
const SECONDS_OF_DAY: u64 = 8 * 3_600;
/// One order of so many is given up: it has an id, and no rows.
const ORDERS: u64 = 101;
const FIRST_TRADE: u64 = 200_000_000_000_001;

const WRITERS: u32 = 2;
const LEAST_ROWS_PER_S: f64 = 200_000.0;
const MOST_CPU: f64 = 1.2;
/// How statements go to the server.
const WAYS: [&str; 2] = ["plain", "pipelined"];
/// News are short here: the race is about statements.
const SHORT_NEWS: &str = "news_bytes=255";
const POINTS: u32 = 100_000;
const SECONDS: u32 = 8;

pub fn race(ground: &Ground, rounds: u32) -> anyhow::Result<()> {
    let what = format!("{CUSTOMERS} customers with {DAYS} days of trading");
    let loading = house().bar(ground, rounds, &what)?;
    let mut bars = vec![loading, generating(ground)?];
    bars.extend(driving(ground, rounds)?);
    verdict(&bars)
}

/// The default size.
fn house() -> Load {
    let trades = CUSTOMERS * u64::from(DAYS) * SECONDS_OF_DAY / SCALE_FACTOR;
    let orders = trades * ORDERS / (ORDERS - 1);
    Load {
        source: Source { workload: "brokerage", size: format!("initial_trade_days={DAYS}") },
        settings: json!({ "initial_trade_days": DAYS }),
        sql: "crates/workloads/src/brokerage/sql",
        placeholders: vec![("{next_trade}", (FIRST_TRADE + orders).to_string())],
        writers: WRITERS,
    }
}

/// By one process for each table, one after the other.
fn generating(ground: &Ground) -> anyhow::Result<Bar> {
    let source = house().source;
    let tables = table::list(ground, &source)?;
    let begun = Instant::now();
    for table in &tables {
        table::generate(ground, &source, table, (0, 1), Stdio::null())?;
    }
    let taken = begun.elapsed().as_secs_f64();
    let rows: u64 = tables.iter().map(|table| table.rows).sum();
    println!("generating: {rows} rows in {taken:.2} s by one core");
    Ok(Bar {
        what: "rows generated per second".to_owned(),
        found: rows as f64 / taken,
        asked: Asked::AtLeast(LEAST_ROWS_PER_S),
    })
}

/// The load engine's CPU time for a statement of the house, sent in both ways, against that for a point select on the same
/// server.
fn driving(ground: &Ground, rounds: u32) -> anyhow::Result<Vec<Bar>> {
    let (in_memory, _emptied) = ground.in_memory()?;
    let server = Server::start(&in_memory, Product::Postgres)?;
    let house = |statements: &str| {
        let mut command = Command::new(&ground.bakeoff);
        command.args(["drive", "brokerage", &server.url(), "--json", "--shards", contestant::THREADS]);
        command.args(["--set", SHORT_NEWS, "--set", &format!("statements={statements}")]);
        command
    };
    let mut loading = house(WAYS[0]);
    loading.args(["--steps", "load"]);
    run_to_end(loading, SECONDS)?;
    contestant::load(ground, &server, POINTS)?;
    let mut ratios = WAYS.map(|_| Vec::new());
    for round in 1..=rounds {
        let points = cpu_ns(contestant::drive(&ground.bakeoff, &server, Test::PointSelect, POINTS))?;
        for (way, ratios) in WAYS.into_iter().zip(&mut ratios) {
            let house = cpu_ns(house(way))?;
            println!("round {round}: {house:.0} ns of CPU for a statement, {way}, {points:.0} ns for a point select");
            ratios.push(house / points);
        }
    }
    server.stop()?;
    Ok(WAYS
        .into_iter()
        .zip(ratios)
        .map(|(way, ratios)| {
            println!("CPU for a statement, {way}: {} times a point select's", spread(ratios.clone()));
            Bar {
                what: format!("CPU of the load engine for a statement, {way}, of a point select's"),
                found: median(ratios),
                asked: Asked::AtMost(MOST_CPU),
            }
        })
        .collect())
}

/// CPU time for each statement, driven by the same number of clients.
fn cpu_ns(mut drive: Command) -> anyhow::Result<f64> {
    let length = format!("{SECONDS}s");
    drive.args(["--steps", "run", "--clients", "16", "--warmup", "1s", "--time", &length]);
    let said = json(&run_to_end(drive, SECONDS)?.output)?;
    said["driver"]["testimony"]["cpu_ns_per_statement"].as_f64().context("drive says what a statement cost")
}
