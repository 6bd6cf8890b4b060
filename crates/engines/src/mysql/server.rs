//! A MariaDB server of our own: it is made, started, asked for its settings, and stopped.
//!
//! Its data is in `mariadb` below the data disk, its log in `mariadb.log` below the logs. Sessions inside the machine
//! use a Unix socket in a private folder and need no password. If an address is given, the server listens there too.
//! Everybody then needs a password, which is random for each start.

use super::admin::open_admin;
use super::install::{self, ABORT, ACCOUNTS, DATABASE, SERVER};
use super::settings;
use crate::account::Account;
use crate::admin::Admin;
use crate::limit::ReplyLimit;
use crate::own_server::{
    STOP_LIMIT, ServerSettings, SocketFolder, await_sessions, flush, is_not_there, listened, private_folder,
    random_password, surroundings,
};
use crate::process::LoggedProcess;
use crate::remote::{Remote, Tls};
use crate::server::{Endpoint, FurtherDatabase, Server, ServerError, ServerPlace, ServerReport, ServerShape};
use machines::process::Launch;
use rustix::process::Signal;
use serde_json::{Map, Value};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

const SOCKET: &str = "mariadb.sock";

/// The account for the socket only.
const ROOT: &str = "root";

/// The account for TCP, with a password.
const VISITOR: &str = "bakeoff";

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub struct MariadbServer {
    process: LoggedProcess,
    data: PathBuf,
    _sockets: SocketFolder,
    /// How its first database is reached.
    remote: Remote,
    report: ServerReport,
}

pub fn start(
    table: &Map<String, Value>,
    place: &ServerPlace,
    shape: &ServerShape,
) -> Result<MariadbServer, ServerError> {
    let settings = settings::of(table, shape)?;
    let account = Account::choose(ACCOUNTS)?;
    // Each server needs its own folder for temporary tables: at its start a server removes all it finds, even those of
    // another server.
    let scratch = place.data.join("mariadb.tmp");
    private_folder(&scratch, account)?;
    let data = install::make_if_missing(account, &scratch, place)?;
    let sockets = SocketFolder::make(&place.data, "mariadb.socket", account)?;
    let socket = sockets.for_server().join(SOCKET);
    let launch = Launch::new(&[SERVER]).args(arguments(&data, &scratch, &socket, place.listen, &settings));
    let launch = surroundings(launch, account, &place.data);
    let mut process = LoggedProcess::start("MariaDB", launch, &place.logs.join("mariadb.log"), ABORT)?;
    let root = Remote {
        host: sockets.for_us().join(SOCKET).display().to_string(),
        address: None,
        port: place.listen.map_or(0, |address| address.port()),
        user: ROOT.to_owned(),
        database: DATABASE.to_owned(),
        password: None,
        tls: Tls::default(),
        own_sql: false,
    };
    await_sessions(&mut process, &|| open_admin(&root).map(drop), is_not_there)?;
    let remote = match place.listen {
        Some(address) => let_visitors_in(root, address.ip())?,
        None => root,
    };
    let report = report(&remote)?;
    Ok(MariadbServer { process, data, _sockets: sockets, remote, report })
}

/// The server's command line.
fn arguments(
    data: &Path,
    scratch: &Path,
    socket: &Path,
    listen: Option<SocketAddr>,
    settings: &ServerSettings,
) -> Vec<String> {
    let mut arguments = vec![
        "--no-defaults".to_owned(),
        "--basedir=/usr".to_owned(),
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
    arguments.extend(settings.iter().map(|(name, value)| format!("--{}={value}", name.replace('_', "-"))));
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

fn report(remote: &Remote) -> Result<ServerReport, ServerError> {
    let mut admin = open_admin(remote)?;
    let mut version = String::new();
    let sql = "SELECT CONCAT('MariaDB ', VERSION())";
    admin.ask(sql, ReplyLimit::QUESTION, &mut |rows, row| {
        rows.text(row, 0).unwrap_or_default().clone_into(&mut version);
    })?;
    let effective = admin.effective()?;
    Ok(ServerReport { version, effective, endpoint: Endpoint::Mysql(remote.clone()) })
}

impl Server for MariadbServer {
    fn report(&self) -> &ServerReport {
        &self.report
    }

    fn alive(&mut self) -> Result<(), ServerError> {
        self.process.alive()
    }

    fn process(&self) -> u32 {
        self.process.id()
    }

    /// The server copies no databases.
    fn open_database(&self, number: u16) -> Result<FurtherDatabase, ServerError> {
        let remote = Remote { database: format!("{DATABASE}_{number}"), ..self.remote.clone() };
        let mut admin = open_admin(&self.remote)?;
        let mut is_there = false;
        let find = format!("SELECT 1 FROM information_schema.schemata WHERE schema_name = '{}'", remote.database);
        admin.ask(&find, ReplyLimit::QUESTION, &mut |_, _| is_there = true)?;
        if !is_there {
            admin.script(&format!("CREATE DATABASE {}", remote.database))?;
        }
        let report = ServerReport { endpoint: Endpoint::Mysql(remote), ..self.report.clone() };
        Ok(FurtherDatabase { report, is_empty: !is_there })
    }

    fn stop(mut self: Box<Self>) -> Result<(), ServerError> {
        // On an orderly stop the server ends its sessions and writes out the cache.
        self.process.stop(Signal::TERM, STOP_LIMIT)?;
        flush(&self.data)
    }
}
