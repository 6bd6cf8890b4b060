//! A MariaDB server of our own: it is made, started, asked for its settings, and stopped.
//!
//! Its data is in `mariadb` below the data disk, its log in `mariadb.log` below the logs. Sessions inside the machine
//! use a Unix socket in a private folder and need no password. If an address is given, the server listens there too.
//! Everybody then needs a password, which is random for each start.

use super::admin::open_admin;
use super::install::{self, ABORT, DATABASE, PLACES, base_option};
use super::settings;
use crate::account::Account;
use crate::admin::Admin;
use crate::own_server::{
    self, OwnProduct, OwnServer, ServerSettings, SocketFolder, await_sessions, finds, is_not_there, listened,
    private_folder, random_password, surroundings,
};
use crate::process::LoggedProcess;
use crate::remote::Remote;
use crate::server::{Endpoint, ServerError, ServerPlace, ServerShape};
use machines::process::Launch;
use rustix::process::Signal;
use serde_json::{Map, Value};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

const SOCKET: &str = "mariadb.sock";

/// The account for the socket only.
const ROOT: &str = "root";

/// The account for TCP, with a password.
const VISITOR: &str = "bakeoff";

/// Servers from before 2024 do not have this setting, and work as if it had this value.
const NOT_EVERYWHERE: (&str, &str) = ("innodb_snapshot_isolation", "OFF");

const PRODUCT: OwnProduct = OwnProduct { endpoint: Endpoint::Mysql, make_database, stop: Signal::TERM };

pub fn start(table: &Map<String, Value>, place: &ServerPlace, shape: &ServerShape) -> Result<OwnServer, ServerError> {
    let settings = settings::of(table, shape)?;
    let programs = PLACES.find(table)?;
    let account = Account::choose(PLACES.accounts)?;
    // Each server needs its own folder for temporary tables: at its start a server removes all it finds, even those of
    // another server.
    let scratch = place.data.join("mariadb.tmp");
    private_folder(&scratch, account)?;
    let data = install::make_if_missing(&programs, account, &scratch, place)?;
    let sockets = SocketFolder::make(&place.data, "mariadb.socket", account)?;
    let socket = sockets.for_server().join(SOCKET);
    let launch = Launch::new(&[&programs.server]).args(["--no-defaults".to_owned(), base_option(&programs)]);
    let launch = launch.args(arguments(&data, &scratch, &socket, place.listen, &settings));
    let launch = surroundings(launch, account, &place.data);
    let mut process = LoggedProcess::start("MariaDB", launch, &place.logs.join("mariadb.log"), ABORT)?;
    let root = Remote {
        host: sockets.for_us().join(SOCKET).display().to_string(),
        port: place.listen.map_or(0, |address| address.port()),
        user: ROOT.to_owned(),
        database: DATABASE.to_owned(),
        ..Remote::default()
    };
    await_sessions(&mut process, &|| open_admin(&root).map(drop), is_not_there)?;
    let remote = match place.listen {
        Some(address) => let_visitors_in(root, address.ip())?,
        None => root,
    };
    let version = "SELECT CONCAT('MariaDB ', VERSION())";
    let report = own_server::report(&mut open_admin(&remote)?, version, Endpoint::Mysql(remote.clone()))?;
    Ok(OwnServer { process, data, sockets, remote, report, product: PRODUCT })
}

/// The server's command line, without what has to come first.
fn arguments(
    data: &Path,
    scratch: &Path,
    socket: &Path,
    listen: Option<SocketAddr>,
    settings: &ServerSettings,
) -> Vec<String> {
    let mut arguments = vec![
        format!("--datadir={}", data.display()),
        format!("--tmpdir={}", scratch.display()),
        format!("--socket={}", socket.display()),
        format!("--pid-file={}", data.join("mariadb.pid").display()),
        "--skip-name-resolve".to_owned(),
        "--character-set-server=utf8mb4".to_owned(),
        "--collation-server=utf8mb4_bin".to_owned(),
    ];
    match listen {
        Some(address) => arguments
            .extend([format!("--bind-address={}", listened(address.ip())), format!("--port={}", address.port())]),
        None => arguments.push("--skip-networking".to_owned()),
    }
    arguments.extend(settings.iter().map(|(name, value)| {
        let where_known = if (*name, value.as_str()) == NOT_EVERYWHERE { "loose-" } else { "" };
        format!("--{where_known}{}={value}", name.replace('_', "-"))
    }));
    arguments
}

/// Makes the account for connections to this address, with a new password. A loopback address can be reached only from
/// inside the machine.
fn let_visitors_in(root: Remote, address: IpAddr) -> Result<Remote, ServerError> {
    let password = random_password()?;
    let hosts =
        if address.is_loopback() { vec![address.to_string(), "localhost".to_owned()] } else { vec!["%".to_owned()] };
    for host in hosts {
        open_admin(&root)?.script(&format!(
            "CREATE OR REPLACE USER {VISITOR}@'{host}' IDENTIFIED VIA mysql_native_password USING PASSWORD('{}'); \
             GRANT ALL PRIVILEGES ON *.* TO {VISITOR}@'{host}'",
            password.reveal()
        ))?;
    }
    Ok(Remote { user: VISITOR.to_owned(), password: Some(password), ..root })
}

/// The server copies no databases.
fn make_database(first: &Remote, name: &str) -> Result<bool, ServerError> {
    let mut admin = open_admin(first)?;
    let find = format!("SELECT 1 FROM information_schema.schemata WHERE schema_name = '{name}'");
    let is_there = finds(&mut admin, &find)?;
    if !is_there {
        admin.script(&format!("CREATE DATABASE {name}"))?;
    }
    Ok(!is_there)
}
