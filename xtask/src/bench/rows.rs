//! Rows generated per second by one core, against the rate at which COPY takes them from a file.
//!
//! One process generates every table and discards it; one psql copies the same rows from files into tables
//! without indexes. If generating were slower than copying, it would slow down loading.

use super::RaceGround;
use super::driver::server::{Product, RaceServer};
use super::ratio::{geometric_mean, rounds};
use super::table::{self, BenchTable, SizedWorkload};
use anyhow::{Context, ensure};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

const WHOLE: (u32, u32) = (0, 1);
const SCHEMA: &str = "crates/workloads/src/order_entry/sql/schema.postgres.sql";

pub fn race(ground: &RaceGround, warehouses: u32, count: u32) -> anyhow::Result<()> {
    let source = SizedWorkload::order_entry(warehouses);
    let tables = table::list(ground, &source)?;
    let script = write_script(ground, &source, &tables)?;
    let rounds = rounds(count, || generate(ground, &source, &tables), || copy(ground, &script))?;
    let rows = tables.iter().map(|table| table.rows).sum::<u64>() as f64;
    let generated = geometric_mean(rounds.iter().map(|round| rows / round.ours.as_secs_f64()));
    let copied = geometric_mean(rounds.iter().map(|round| rows / round.theirs.as_secs_f64()));
    println!("generating: {generated:.0} rows/s by one core; COPY from a file by one connection: {copied:.0} rows/s");
    println!("generating is {:.2} times as fast as COPY takes rows", generated / copied);
    ensure!(generated > copied, "generating rows is slower than COPY takes them");
    Ok(())
}

fn generate(ground: &RaceGround, source: &SizedWorkload, tables: &[BenchTable]) -> anyhow::Result<Duration> {
    let begin = Instant::now();
    tables.iter().try_for_each(|table| table::generate(ground, source, table, WHOLE, Stdio::null()))?;
    Ok(begin.elapsed())
}

fn copy(ground: &RaceGround, script: &PathBuf) -> anyhow::Result<Duration> {
    let server = RaceServer::start(ground, Product::Postgres)?;
    server.run(&[ground.root.join(SCHEMA)])?;
    let begin = Instant::now();
    server.run(std::slice::from_ref(script))?;
    let taken = begin.elapsed();
    server.stop()?;
    Ok(taken)
}

fn write_script(ground: &RaceGround, source: &SizedWorkload, tables: &[BenchTable]) -> anyhow::Result<PathBuf> {
    let mut text = String::new();
    for table in tables {
        let file = table::write(ground, source, table, WHOLE, &ground.folder)?;
        text.push_str(&table::copy_line(table, &file));
    }
    let path = ground.folder.join("copy.sql");
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}
