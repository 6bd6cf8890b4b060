//! A small database in a temporary folder.

use crate::made;
use driver::plan::Driven;
use engines::catalog;
use engines::server::{Endpoint, Server, ServerPlace, ServerShape};
use record::check::{CheckResult, Moment};
use record::trial::KindTotals;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;
use workloads::catalog::AnyWorkload;
use workloads::dataset::{Dataset, TablePart};

/// The program that tests of an engine need.
fn program_of(engine: &str) -> &'static Path {
    Path::new(if engine == "mariadb" { "/usr/sbin/mariadbd" } else { "/usr/lib/postgresql/15/bin/postgres" })
}

pub type State = BTreeMap<String, i64>;

/// A database with a workload from bakeoff's own list.
pub type Database = Loaded<AnyWorkload>;

/// A workload that can be loaded.
pub trait HasDataset {
    fn dataset(&self) -> &dyn Dataset;
}

impl HasDataset for AnyWorkload {
    fn dataset(&self) -> &dyn Dataset {
        self.dataset()
    }
}

pub struct Loaded<W> {
    pub workload: W,
    pub server: Option<Box<dyn Server>>,
    endpoint: Endpoint,
    // Dropped last: the server's files are in it.
    _folder: TempDir,
}

/// The loaded database, or `None` where its programs are missing.
pub fn database_or_skip<W: HasDataset>(engine: &str, workload: W) -> Option<Loaded<W>> {
    is_here(engine).then(|| Loaded::of(engine, workload))
}

/// Whether the engine's programs are installed. If not, it says so, and fails if they are required.
fn is_here(engine: &str) -> bool {
    let program = program_of(engine);
    if engine == "sqlite" || program.exists() {
        return true;
    }
    let required = std::env::var("REQUIRE").unwrap_or_default();
    let is_required = required.split(',').any(|word| word == engine);
    assert!(!is_required, "{engine} is required, but {} is missing", program.display());
    eprintln!("SKIPPED: {} is missing, so nothing was driven on {engine}", program.display());
    false
}

/// A server for databases of several workloads.
pub struct Ground {
    engine: &'static str,
    server: Box<dyn Server>,
    // Dropped last: the server's files are in it.
    _folder: TempDir,
}

impl Ground {
    /// `None` where the engine's programs are missing.
    pub fn or_skip(engine: &'static str) -> Option<Self> {
        is_here(engine).then(|| {
            let (server, folder) = started(engine);
            Self { engine, server, _folder: folder }
        })
    }

    /// A database of the server with this number, from 2; an engine without a server has another file.
    pub fn loaded<W: HasDataset>(&self, number: u16, workload: W) -> Loaded<W> {
        if self.engine == "sqlite" {
            return Loaded::of(self.engine, workload);
        }
        let endpoint = self.server.open_database(number).unwrap().report.endpoint;
        let database = Loaded { workload, server: None, endpoint, _folder: tempfile::tempdir().unwrap() };
        database.load();
        database
    }
}

fn started(engine: &str) -> (Box<dyn Server>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    // The server may run under another account.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let (data, logs) = (folder.path().join("data"), folder.path().join("logs"));
    for part in [&data, &logs] {
        std::fs::create_dir(part).unwrap();
    }
    made::put(engine, &data);
    let entry = catalog::entry(engine).unwrap();
    let table = settings::check(&Map::new(), entry.keys).unwrap();
    let shape = ServerShape { vcpus: 2, memory_bytes: 1 << 30 };
    let server = catalog::start(engine, &table, &ServerPlace { data, logs, listen: None }, &shape).unwrap();
    (server, folder)
}

impl<W: HasDataset> Loaded<W> {
    pub fn of(engine: &str, workload: W) -> Self {
        let (server, folder) = started(engine);
        let endpoint = server.report().endpoint.clone();
        let database = Self { workload, server: Some(server), endpoint, _folder: folder };
        database.load();
        database
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub fn state(&self) -> State {
        let mut admin = catalog::admin(&self.endpoint).unwrap();
        self.workload.dataset().state(admin.as_mut()).unwrap()
    }

    pub fn check(&self) -> Vec<CheckResult> {
        let mut admin = catalog::admin(&self.endpoint).unwrap();
        self.workload.dataset().check(admin.as_mut(), self.endpoint.dialect(), Moment::AfterTrial).unwrap()
    }

    pub fn reconcile(&self, before: &State, whole_run: &[KindTotals]) -> Vec<CheckResult> {
        self.workload.dataset().reconcile(before, &self.state(), whole_run)
    }

    pub fn audit(&self, driven: &Driven) -> Vec<CheckResult> {
        self.workload.dataset().audit(&driven.facts.kinds, &driven.facts.tally, driven.facts.waiting_max())
    }

    fn load(&self) {
        let (dataset, dialect) = (self.workload.dataset(), self.endpoint.dialect());
        let mut admin = catalog::admin(&self.endpoint).unwrap();
        admin.script(&dataset.schema(dialect)).unwrap();
        for table in dataset.tables() {
            let mut rows = dataset.rows(&table.name, TablePart { index: 0, count: 1 });
            admin.load(&table.name, table.columns, &mut |sink| rows.fill(sink)).unwrap();
        }
        admin.script(&dataset.finish(dialect)).unwrap();
        admin.settle().unwrap();
    }
}

pub fn one_warehouse() -> AnyWorkload {
    made("order-entry", &json!({ "warehouses": 1 }))
}

pub fn small_shop() -> AnyWorkload {
    made("dvd-store", &json!({ "db_size": "1MB" }))
}

/// The smallest house; its daily prices are most of the rows.
pub fn small_house() -> AnyWorkload {
    made("brokerage", &json!({ "initial_trade_days": 5, "scale_factor": 20_000, "news_bytes": 300 }))
}

/// So few rows that clients meet.
pub fn small_tables() -> AnyWorkload {
    made("sysbench-oltp", &json!({ "tables": 2, "table_size": 1_000 }))
}

pub fn made(kind: &str, written: &Value) -> AnyWorkload {
    let entry = workloads::catalog::entry(kind).unwrap();
    let table = settings::check(written.as_object().unwrap(), entry.keys).unwrap();
    AnyWorkload::from_table(kind, &table).unwrap()
}
