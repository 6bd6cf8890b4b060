//! A PostgreSQL server of our own: it is made, started, asked for its settings, and stopped.
//!
//! Its data is in `postgres` below the data disk, its log in `postgres.log` below the logs. Sessions inside the machine
//! use a Unix socket in a private folder and need no password. If an address is given, the server listens there too,
//! and asks for a password there, which is random for each start.

use super::ABORT;
use super::admin::open_admin;
use super::cluster::{self, PLACES};
use super::settings;
use crate::account::Account;
use crate::admin::Admin;
use crate::own_server::{
    self, OwnProduct, OwnServer, ServerSettings, SocketFolder, await_sessions, finds, is_not_there, listened,
    random_password, surroundings,
};
use crate::process::LoggedProcess;
use crate::remote::Remote;
use crate::server::{Endpoint, ServerError, ServerPlace, ServerShape};
use crate::session::SessionError;
use machines::process::Launch;
use rustix::process::Signal;
use serde_json::{Map, Value};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

/// The socket's name contains a port even if the server listens on none.
const SOCKET_PORT: u16 = 5432;

/// Another database, which is there in every server.
const BESIDE: &str = "template1";

/// The log's last words if the last server's processes have not all ended. They do so by themselves.
const STILL_IN_USE: &str = "pre-existing shared memory block";
const LAST_LIMIT: Duration = Duration::from_secs(30);

const USER: &str = "postgres";
const DATABASE: &str = "postgres";

/// The signal is that of a "fast" stop.
const PRODUCT: OwnProduct = OwnProduct { endpoint: Endpoint::Postgres, make_database, stop: Signal::INT };

pub fn start(table: &Map<String, Value>, place: &ServerPlace, shape: &ServerShape) -> Result<OwnServer, ServerError> {
    let mut settings = settings::of(table, shape)?;
    let checksums = settings.remove(settings::DATA_CHECKSUMS);
    let programs = PLACES.find(table)?;
    let account = Account::choose(PLACES.accounts)?;
    let data = cluster::make_if_missing(&programs, checksums.as_deref(), account, place)?;
    let sockets = SocketFolder::make(&place.data, "postgres.socket", account)?;
    let words = arguments(&data, &sockets.for_server(), place.listen, &settings);
    let launch = || {
        let launch = surroundings(Launch::new(&[&programs.server]).args(&words), account, &place.data);
        LoggedProcess::start("PostgreSQL", launch, &place.logs.join("postgres.log"), ABORT)
    };
    let remote = Remote {
        host: sockets.for_us().display().to_string(),
        port: port(place.listen),
        user: USER.to_owned(),
        database: DATABASE.to_owned(),
        password: place.listen.map(|_| random_password()).transpose()?,
        ..Remote::default()
    };
    let open = || open_admin(&remote).map(drop);
    let mut process = launch()?;
    let begun = Instant::now();
    loop {
        match await_sessions(&mut process, &open, is_starting) {
            Ok(()) => break,
            Err(error) if is_held_by_the_last(&error) && begun.elapsed() < LAST_LIMIT => process = launch()?,
            Err(error) => return Err(error),
        }
    }
    let mut admin = open_admin(&remote)?;
    if let Some(password) = &remote.password {
        admin.script(&format!("ALTER ROLE {USER} PASSWORD '{}'", password.reveal()))?;
    }
    let report = own_server::report(&mut admin, "SELECT version()", Endpoint::Postgres(remote.clone()))?;
    Ok(OwnServer { process, data, sockets, remote, report, product: PRODUCT })
}

/// The port for TCP, which is also part of the socket's name.
fn port(listen: Option<SocketAddr>) -> u16 {
    listen.map_or(SOCKET_PORT, |address| address.port())
}

/// The server's command line.
fn arguments(data: &Path, sockets: &Path, listen: Option<SocketAddr>, settings: &ServerSettings) -> Vec<String> {
    let place = [
        ("listen_addresses", listen.map(|address| listened(address.ip())).unwrap_or_default()),
        ("port", port(listen).to_string()),
        ("unix_socket_directories", sockets.display().to_string()),
        ("unix_socket_permissions", "0700".to_owned()),
        // The log belongs to the account that started the server.
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

fn is_starting(error: &SessionError) -> bool {
    /// "The database system is starting up".
    const NOT_YET: &str = "57P03";
    is_not_there(error) || matches!(error, SessionError::Refused { code, .. } if code == NOT_YET)
}

/// True if processes of a server that was killed before this one still end.
fn is_held_by_the_last(error: &ServerError) -> bool {
    matches!(error, ServerError::Failed { log, .. } if log.contains(STILL_IN_USE))
}

/// Copies the first database.
fn make_database(first: &Remote, name: &str) -> Result<bool, ServerError> {
    // Nobody may be connected to a database while it is copied.
    let mut admin = open_admin(&Remote { database: BESIDE.to_owned(), ..first.clone() })?;
    if !finds(&mut admin, &format!("SELECT 1 FROM pg_database WHERE datname = '{name}'"))? {
        // Copies files. Without this option, newer versions write all pages to the log, and older ones have only this way.
        let has_ways = finds(&mut admin, "SELECT 1 WHERE current_setting('server_version_num')::INT >= 150000")?;
        let way = if has_ways { " STRATEGY = file_copy" } else { "" };
        admin.script(&format!("CREATE DATABASE {name} TEMPLATE {DATABASE}{way}"))?;
    }
    Ok(false)
}
