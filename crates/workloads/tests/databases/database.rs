//! A server of our own for one test, which stops with it.

use crate::made;
use engines::admin::Admin;
use engines::catalog::{admin, entry, start};
use engines::server::{Endpoint, Server, ServerPlace, ServerShape};
use engines::statement::Dialect;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use workloads::dataset::{DataTable, Dataset, TablePart};

pub struct Database {
    pub endpoint: Endpoint,
    // Dropped in this order: the server stops before its folder is removed.
    _server: Box<dyn Server>,
    _folder: TempDir,
}

impl Database {
    pub fn sqlite() -> Self {
        Self::start("sqlite", &json!({ "synchronous": "off", "cache": "64MiB", "busy_timeout": 60_000 }))
    }

    pub fn postgres() -> Self {
        Self::start("postgres", &json!({ "fsync": false, "synchronous_commit": "off", "max_wal_size": "4GiB" }))
    }

    pub fn mariadb() -> Self {
        Self::start("mariadb", &json!({ "innodb_flush_log_at_trx_commit": 0, "innodb_doublewrite": false }))
    }

    fn start(kind: &str, table: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = ServerPlace { data: folder.path().join("data"), logs: folder.path().join("logs"), listen: None };
        for path in [&place.data, &place.logs] {
            std::fs::create_dir(path).unwrap();
        }
        made::put(kind, &place.data);
        let table: Map<String, Value> = table.as_object().unwrap().clone();
        let table = settings::check(&table, entry(kind).unwrap().keys).unwrap();
        let shape = ServerShape { vcpus: 2, memory_bytes: 2 << 30 };
        let server = start(kind, &table, &place, &shape).unwrap_or_else(|error| panic!("{kind}: {error}"));
        Self { endpoint: server.report().endpoint.clone(), _server: server, _folder: folder }
    }

    pub fn dialect(&self) -> Dialect {
        self.endpoint.dialect()
    }

    pub fn admin(&self) -> Box<dyn Admin> {
        admin(&self.endpoint).unwrap()
    }

    pub fn load(&self, dataset: &dyn Dataset, table: &DataTable, part: TablePart) -> u64 {
        let mut rows = dataset.rows(&table.name, part);
        self.admin().load(&table.name, table.columns, &mut |sink| rows.fill(sink)).unwrap()
    }
}
