//! Loading into PostgreSQL, against psql's `\copy` of the same rows from files.
//!
//! Both load with the same number of connections into the same tables of a new server with the same settings, and both
//! create the same keys, indexes and statistics afterwards. Our time includes generating rows; psql's does not include
//! writing the files.

use super::bar::{Asked, Bar, median, spread};
use super::postgres::Server;
use super::ratio::{Round, rounds};
use super::table::{self, Source, Table};
use super::{Ground, MOST_LOADING};
use anyhow::Context;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const SETTLE: &str = "crates/engines/src/postgres/sql/settle.sql";

/// Data to load.
pub struct Load {
    pub source: Source,
    /// The workload's settings, as the agent takes them.
    pub settings: Value,
    /// The folder with the workload's SQL, which psql runs once its placeholders are filled.
    pub sql: &'static str,
    pub placeholders: Vec<(&'static str, String)>,
    pub writers: u32,
}

impl Load {
    pub fn order_entry(warehouses: u32, writers: u32) -> Self {
        Self {
            source: Source::order_entry(warehouses),
            settings: json!({
                "warehouses": warehouses, "delivery": "deferred", "transactions": "client", "statements": "plain",
                "data_seed": 42,
            }),
            sql: "crates/workloads/src/order_entry/sql",
            placeholders: Vec::new(),
            writers,
        }
    }

    /// The race with files and server in memory, against a limit that all workloads share.
    pub fn bar(&self, ground: &Ground, count: u32, what: &str) -> anyhow::Result<Bar> {
        let (in_memory, _emptied) = ground.in_memory()?;
        let rounds = self.race(&in_memory, count)?;
        let ratio = |round: &Round| round.ours.as_secs_f64() / round.theirs.as_secs_f64();
        let ratios: Vec<f64> = rounds.iter().map(ratio).collect();
        println!("loading {what}: {} times as long as psql takes", spread(ratios.clone()));
        Ok(Bar {
            what: format!("loading {what} into PostgreSQL: time, of psql's \\copy"),
            found: median(ratios),
            asked: Asked::AtMost(MOST_LOADING),
        })
    }

    /// Times of ours and theirs.
    pub fn race(&self, ground: &Ground, count: u32) -> anyhow::Result<Vec<Round>> {
        let scripts = self.prepare(ground)?;
        rounds(count, || self.ours(ground), || self.theirs(ground, &scripts))
    }

    fn ours(&self, ground: &Ground) -> anyhow::Result<Duration> {
        in_new_server(ground, |server| {
            let workload = json!({ "kind": self.source.workload, "settings": self.settings });
            server
                .conversation
                .ask(&json!({ "request": "load", "workload": workload, "writers": self.writers, "stay": null }))?;
            Ok(())
        })
    }

    fn theirs(&self, ground: &Ground, scripts: &[PathBuf]) -> anyhow::Result<Duration> {
        let [schema, finish] = ["schema.postgres.sql", "finish.postgres.sql"].map(|name| self.script(ground, name));
        let (schema, finish) = (schema?, finish?);
        in_new_server(ground, |server| {
            server.run(&[schema])?;
            server.run(scripts)?;
            server.run(&[finish])?;
            server.run(&[ground.root.join(SETTLE)])
        })
    }

    /// One of the workload's scripts without placeholders.
    fn script(&self, ground: &Ground, name: &str) -> anyhow::Result<PathBuf> {
        let path = ground.root.join(self.sql).join(name);
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let filled = self.placeholders.iter().fold(text, |text, (name, value)| text.replace(name, value));
        let path = ground.folder.join(name);
        std::fs::write(&path, filled).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }

    /// Writes the rows to files, and for each connection a script that copies its share of them, table by table.
    fn prepare(&self, ground: &Ground) -> anyhow::Result<Vec<PathBuf>> {
        let tables = table::list(ground, &self.source)?;
        (0..self.writers).map(|index| self.copying(ground, &tables, (index, self.writers))).collect()
    }

    fn copying(&self, ground: &Ground, tables: &[Table], share: (u32, u32)) -> anyhow::Result<PathBuf> {
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
