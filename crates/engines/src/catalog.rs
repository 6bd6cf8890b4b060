//! The list of engines. Adding one is a folder and a line here.

use crate::admin::Admin;
use crate::server::{Endpoint, Server, ServerError, ServerPlace, ServerShape};
use crate::session::SessionError;
use crate::statement::{Dialect, Statement};
use crate::{mysql, postgres, sqlite};
use serde_json::{Map, Value};

/// What a study and `bakeoff list` need to know of an engine.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub kind: &'static str,
    pub meaning: &'static str,
    /// Keys of the study's `[engine]` table besides `kind`.
    pub keys: &'static [settings::Key],
    /// Whether sessions may come from outside the machine.
    pub remote: bool,
    pub dialect: Dialect,
    /// What its folder takes before it holds a row, at least: measured with the settings that it comes with.
    pub empty_bytes: u64,
}

pub const ENGINES: &[Entry] = &[sqlite::ENTRY, postgres::ENTRY, mysql::ENTRY];

pub fn entry(kind: &str) -> Option<&'static Entry> {
    ENGINES.iter().find(|entry| entry.kind == kind)
}

/// Creates the database if the data disk has none, else starts what is there. `table` was checked against the entry's keys.
pub fn start(
    kind: &str,
    table: &Map<String, Value>,
    place: &ServerPlace,
    shape: &ServerShape,
) -> Result<Box<dyn Server>, ServerError> {
    match kind {
        sqlite::KIND => Ok(Box::new(sqlite::server::start(table, place, shape)?)),
        postgres::KIND => Ok(Box::new(postgres::server::start(table, place, shape)?)),
        mysql::KIND => Ok(Box::new(mysql::server::start(table, place, shape)?)),
        _ => Err(ServerError::Settings { engine: kind.to_owned(), why: "there is no such engine".to_owned() }),
    }
}

/// A blocking connection for scripts, checks and loading.
pub fn admin(endpoint: &Endpoint) -> Result<Box<dyn Admin>, SessionError> {
    Ok(match endpoint {
        Endpoint::Sqlite { .. } => Box::new(sqlite::admin::open_admin(endpoint)?),
        Endpoint::Postgres(remote) => Box::new(postgres::admin::open_admin(remote)?),
        Endpoint::Mysql(remote) => Box::new(mysql::admin::open_admin(remote)?),
    })
}

/// What opens sessions at an endpoint. An enum, because the load engine is generic over the session's own type.
#[derive(Debug, Clone)]
pub enum AnyConnect {
    Sqlite(sqlite::session::SqliteConnect),
    Postgres(postgres::session::PostgresConnect),
    Mysql(mysql::session::MysqlConnect),
}

/// Sessions at `endpoint`, each with these statements prepared; they must be in the endpoint's dialect.
pub fn connect(endpoint: &Endpoint, statements: Vec<Statement>) -> AnyConnect {
    match endpoint {
        Endpoint::Sqlite { .. } => AnyConnect::Sqlite(sqlite::session::SqliteConnect::new(endpoint, statements)),
        Endpoint::Postgres(remote) => AnyConnect::Postgres(postgres::session::PostgresConnect::new(remote, statements)),
        Endpoint::Mysql(remote) => AnyConnect::Mysql(mysql::session::MysqlConnect::new(remote, statements)),
    }
}
