//! Loading into PostgreSQL, against psql's `\copy` of the same rows from files.
//!
//! Both load with the same number of connections into the same tables of a new server with the same settings, and both
//! create the same keys, indexes and statistics afterwards. Our time includes generating rows; psql's does not include
//! writing the files.

use super::RaceGround;
use super::driver::server::{Product, RaceServer};
use super::ratio::{judge, rounds};
use super::table::{self, BenchTable, SizedWorkload};
use anyhow::Context;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const SETTLE: &str = "crates/engines/src/postgres/sql/settle.sql";

/// The folder with the workload's SQL.
const SQL: &str = "crates/workloads/src/order_entry/sql";
/// Loading takes at most so many times as long as psql.
const MOST: f64 = 1.25;

/// Data to load.
struct DataToLoad {
    source: SizedWorkload,
    /// The workload's settings, as the agent takes them.
    settings: Value,
    writers: u32,
}

/// Times of ours and theirs, against a limit.
pub fn race(ground: &RaceGround, warehouses: u32, writers: u32, count: u32) -> anyhow::Result<()> {
    let settings = json!({
        "warehouses": warehouses, "delivery": "deferred", "transactions": "client", "statements": "plain",
        "data_seed": 42,
    });
    let load = DataToLoad { source: SizedWorkload::order_entry(warehouses), settings, writers };
    let scripts = load.prepare(ground)?;
    let rounds = rounds(count, || load.ours(ground), || theirs(ground, &scripts))?;
    judge(&format!("loading {warehouses} warehouses with {writers} connections"), &rounds, MOST)
}

impl DataToLoad {
    fn ours(&self, ground: &RaceGround) -> anyhow::Result<Duration> {
        in_new_server(ground, |server| {
            let workload = json!({ "kind": self.source.workload, "settings": self.settings });
            server
                .conversation
                .ask(&json!({ "request": "load", "workload": workload, "writers": self.writers, "stay": null }))?;
            Ok(())
        })
    }

    /// Writes the rows to files, and for each connection a script that copies its share of them, table by table.
    fn prepare(&self, ground: &RaceGround) -> anyhow::Result<Vec<PathBuf>> {
        let tables = table::list(ground, &self.source)?;
        (0..self.writers).map(|index| self.copying(ground, &tables, (index, self.writers))).collect()
    }

    fn copying(&self, ground: &RaceGround, tables: &[BenchTable], share: (u32, u32)) -> anyhow::Result<PathBuf> {
        let mut text = String::new();
        for table in tables {
            let file = table::write(ground, &self.source, table, share, &ground.folder)?;
            text.push_str(&table::copy_line(table, &file));
        }
        let path = ground.folder.join(format!("copy-{}.sql", share.0));
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }
}

fn theirs(ground: &RaceGround, scripts: &[PathBuf]) -> anyhow::Result<Duration> {
    let [schema, finish] = ["schema.postgres.sql", "finish.postgres.sql"].map(|name| ground.root.join(SQL).join(name));
    in_new_server(ground, |server| {
        server.run(&[schema])?;
        server.run(scripts)?;
        server.run(&[finish])?;
        server.run(&[ground.root.join(SETTLE)])
    })
}

/// How long `work` takes in a new server.
fn in_new_server(
    ground: &RaceGround,
    work: impl FnOnce(&mut RaceServer) -> anyhow::Result<()>,
) -> anyhow::Result<Duration> {
    let mut server = RaceServer::start(ground, Product::Postgres)?;
    let begin = Instant::now();
    work(&mut server)?;
    let taken = begin.elapsed();
    server.stop()?;
    Ok(taken)
}
