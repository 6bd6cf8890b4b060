//! A PostgreSQL server of our own: made, started, asked what it is, and stopped.
//!
//! Its data is in `postgres` below the data disk, its log in `postgres.log` below the logs. Sessions inside the machine
//! use a Unix socket in a private folder and need no password. With a port it listens on all addresses, too, and asks
//! there for a password that is made at random for each start.

use super::account::Account;
use super::admin::open_admin;
use super::cluster::{self, Programs};
use super::process::Process;
use super::settings;
use crate::admin::Admin;
use crate::remote::{Remote, Tls};
use crate::secret::Secret;
use crate::server::{Counters, Endpoint, Server, ServerError, ServerPlace, ServerReport, ServerShape};
use crate::session::SessionError;
use rustix::process::Signal;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A start may have to read the write-ahead log of a server that was killed.
const START_LIMIT: Duration = Duration::from_mins(5);

/// An orderly stop writes out the whole cache.
const STOP_LIMIT: Duration = Duration::from_mins(5);

/// Between two attempts to connect to a server that is starting.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(20);

/// The socket's name contains a port even where nothing listens on one.
const SOCKET_PORT: u16 = 5432;

const RANDOM_BYTES: &str = "/dev/urandom";

const USER: &str = "postgres";
const DATABASE: &str = "postgres";

/// A running server; dropping it kills it.
#[derive(Debug)]
pub struct PostgresServer {
    process: Process,
    data: PathBuf,
    remote: Remote,
    report: ServerReport,
}

pub fn start(
    table: &Map<String, Value>,
    place: &ServerPlace,
    shape: &ServerShape,
) -> Result<PostgresServer, ServerError> {
    let settings = settings::of(table, shape)?;
    let programs = Programs::find(Path::new(cluster::INSTALLED))?;
    let account = Account::choose()?;
    let data = cluster::make_if_missing(&programs, account, place)?;
    let sockets = cluster::socket_folder(account, place)?;
    let port = place.port.unwrap_or(SOCKET_PORT);
    let mut command = Command::new(programs.server());
    command.args(arguments(&data, &sockets, place.port, &settings));
    cluster::prepare(&mut command, account, &place.data);
    let mut process = Process::start("PostgreSQL", &mut command, &place.logs.join("postgres.log"))?;
    let remote = Remote {
        host: sockets.display().to_string(),
        address: None,
        port,
        user: USER.to_owned(),
        database: DATABASE.to_owned(),
        password: place.port.map(|_| random_password()).transpose()?.map(Secret::new),
        tls: Tls::default(),
    };
    await_sessions(&mut process, &remote)?;
    let report = report(&remote)?;
    Ok(PostgresServer { process, data, remote, report })
}

/// The server's command line.
fn arguments(data: &Path, sockets: &Path, port: Option<u16>, settings: &settings::ServerSettings) -> Vec<String> {
    let addresses = if port.is_some() { "*" } else { "" };
    let place = [
        ("listen_addresses", addresses.to_owned()),
        ("port", port.unwrap_or(SOCKET_PORT).to_string()),
        ("unix_socket_directories", sockets.display().to_string()),
        ("unix_socket_permissions", "0700".to_owned()),
        // The log belongs to whoever started the server.
        ("logging_collector", "off".to_owned()),
        ("log_destination", "stderr".to_owned()),
    ];
    let mut arguments = vec!["-D".to_owned(), data.display().to_string()];
    let settings = settings.iter().map(|(name, value)| (*name, value.clone()));
    for (name, value) in place.into_iter().chain(settings) {
        arguments.extend(["-c".to_owned(), format!("{name}={value}")]);
    }
    arguments
}

/// Waits until a session can be opened.
fn await_sessions(process: &mut Process, remote: &Remote) -> Result<(), ServerError> {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        match open_admin(remote) {
            Ok(_) => return Ok(()),
            Err(error) if is_starting(&error) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(status) = process.wait(Instant::now() + ATTEMPT_INTERVAL)? {
            return Err(process.ended_with(status));
        }
        if Instant::now() > deadline {
            return Err(process.too_slow(START_LIMIT));
        }
    }
}

/// No socket yet, a socket that a dead server left behind, or "the database system is starting up".
fn is_starting(error: &SessionError) -> bool {
    match error {
        SessionError::Lost(cause) => matches!(
            cause.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::UnexpectedEof
        ),
        SessionError::Refused { code, .. } => code == "57P03",
        _ => false,
    }
}

/// Letters and digits only, so it can stand in a statement as it is.
fn random_password() -> Result<String, ServerError> {
    let mut bytes = [0_u8; 16];
    File::open(RANDOM_BYTES)
        .and_then(|mut random| random.read_exact(&mut bytes))
        .map_err(|source| ServerError::Io { doing: format!("reading {RANDOM_BYTES}"), source })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

fn report(remote: &Remote) -> Result<ServerReport, ServerError> {
    let mut admin = open_admin(remote)?;
    if let Some(password) = &remote.password {
        admin.script(&format!("ALTER ROLE {USER} PASSWORD '{}'", password.reveal()))?;
    }
    let mut version = String::new();
    admin.scan("SELECT version()", &mut |rows, row| rows.text(row, 0).unwrap_or_default().clone_into(&mut version))?;
    let effective = pairs(&mut admin, include_str!("sql/effective.sql"))?;
    Ok(ServerReport { version, effective, endpoint: Endpoint::Postgres(remote.clone()) })
}

/// The rows of a query for names and values.
fn pairs(admin: &mut dyn Admin, sql: &str) -> Result<BTreeMap<String, String>, SessionError> {
    let mut found = BTreeMap::new();
    admin.scan(sql, &mut |rows, row| {
        if let (Ok(name), Ok(value)) = (rows.text(row, 0), rows.text(row, 1)) {
            found.insert(name.to_owned(), value.to_owned());
        }
    })?;
    Ok(found)
}

impl Server for PostgresServer {
    fn report(&self) -> &ServerReport {
        &self.report
    }

    fn alive(&mut self) -> Result<(), ServerError> {
        match self.process.ended()? {
            Some(status) => Err(self.process.ended_with(status)),
            None => Ok(()),
        }
    }

    fn counters(&mut self) -> Result<Counters, ServerError> {
        self.alive()?;
        let mut admin = open_admin(&self.remote)?;
        let mut counters = pairs(&mut admin, include_str!("sql/counters.sql"))?;
        let newer = "SELECT 1 WHERE to_regclass('pg_catalog.pg_stat_checkpointer') IS NOT NULL";
        let mut is_newer = false;
        admin.scan(newer, &mut |_, _| is_newer = true)?;
        if is_newer {
            counters.extend(pairs(&mut admin, include_str!("sql/counters_from_17.sql"))?);
        }
        Ok(counters.into_iter().filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect())
    }

    fn stop(mut self: Box<Self>) -> Result<(), ServerError> {
        // The "fast" stop: sessions are ended, the cache is written out.
        self.process.signal(Signal::INT);
        self.process.finish(STOP_LIMIT)?;
        flush(&self.data)
    }
}

/// A server that runs without fsync leaves its files to the operating system.
fn flush(data: &Path) -> Result<(), ServerError> {
    File::open(data)
        .and_then(|folder| rustix::fs::syncfs(&folder).map_err(io::Error::from))
        .map_err(|source| ServerError::Io { doing: format!("flushing {}", data.display()), source })
}
