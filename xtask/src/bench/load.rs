//! Loading order-entry into PostgreSQL, against psql's `\copy` of the same rows from files.
//!
//! Both load with the same number of connections into the same tables of a new server with the same settings, and both
//! create the same keys, indexes and statistics afterwards. Our time includes generating rows; psql's does not include
//! writing the files.

use super::Ground;
use super::postgres::Server;
use super::ratio::{judge, rounds};
use super::table::{self, Table};
use anyhow::Context;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const BAR: f64 = 1.25;

/// The workload's SQL, which psql runs unchanged.
const STATEMENTS: &str = "crates/workloads/src/order_entry/sql";
const SETTLE: &str = "crates/engines/src/postgres/sql/settle.sql";

pub fn race(ground: &Ground, warehouses: u32, writers: u32, count: u32) -> anyhow::Result<()> {
    let scripts = prepare(ground, warehouses, writers)?;
    let rounds = rounds(count, || ours(ground, warehouses, writers), || theirs(ground, &scripts))?;
    judge(&format!("loading {warehouses} warehouses with {writers} connections"), &rounds, BAR)
}

fn ours(ground: &Ground, warehouses: u32, writers: u32) -> anyhow::Result<Duration> {
    in_new_server(ground, |server| {
        let settings = json!({ "warehouses": warehouses, "delivery": "deferred", "transactions": "client", "statements": "plain", "data_seed": 42 });
        let workload = json!({ "kind": "order-entry", "settings": settings });
        server.conversation.ask(&json!({ "request": "load", "workload": workload, "writers": writers }))?;
        Ok(())
    })
}

fn theirs(ground: &Ground, scripts: &[PathBuf]) -> anyhow::Result<Duration> {
    let statements = |name: &str| ground.root.join(STATEMENTS).join(name);
    in_new_server(ground, |server| {
        server.run(&[statements("schema.postgres.sql")])?;
        server.run(scripts)?;
        server.run(&[statements("finish.postgres.sql")])?;
        server.run(&[ground.root.join(SETTLE)])
    })
}

/// How long `work` takes in a new server.
fn in_new_server(ground: &Ground, work: impl FnOnce(&mut Server) -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let folder = ground.folder.join("server");
    let mut server = Server::start(ground, &folder)?;
    let begin = Instant::now();
    work(&mut server)?;
    let taken = begin.elapsed();
    server.conversation.end()?;
    std::fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    Ok(taken)
}

/// Writes the rows to files, and for each connection a script that copies its share of them, table by table.
fn prepare(ground: &Ground, warehouses: u32, writers: u32) -> anyhow::Result<Vec<PathBuf>> {
    let tables = table::list(ground, warehouses)?;
    (0..writers).map(|index| script(ground, warehouses, &tables, (index, writers))).collect()
}

fn script(ground: &Ground, warehouses: u32, tables: &[Table], share: (u32, u32)) -> anyhow::Result<PathBuf> {
    let mut text = String::new();
    for table in tables {
        let file = table::write(ground, warehouses, table, share, &ground.folder)?;
        text.push_str(&table::copy_line(table, &file));
    }
    let path: &Path = &ground.folder.join(format!("copy-{}.sql", share.0));
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    Ok(path.to_path_buf())
}
