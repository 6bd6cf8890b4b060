//! The common part of servers that we start ourselves, whatever the product: settings, environment, private folders, a
//! random password, waiting for the first session, and flushing files that the server left to the operating system.

use crate::account::Account;
use crate::admin::Admin;
use crate::limit::ReplyLimit;
use crate::process::LoggedProcess;
use crate::programs::{ENVIRONMENT, VERSION};
use crate::remote::Remote;
use crate::secret::Secret;
use crate::server::{Endpoint, FurtherDatabase, Server, ServerError, ServerReport};
use crate::session::SessionError;
use machines::process::Launch;
use machines::token::random_bytes;
use rustix::process::Signal;
use serde_json::{Map, Value};
use settings::{Key, Problem};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A start may have to replay the log of a server that was killed.
const START_LIMIT: Duration = Duration::from_mins(5);

/// An orderly stop writes out the whole cache.
const STOP_LIMIT: Duration = Duration::from_mins(5);

/// Making a data folder takes seconds, or minutes where a guest's processor is emulated.
pub const INIT_LIMIT: Duration = Duration::from_mins(10);

/// Pause between two attempts to connect to a server that is starting.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(20);

/// The key that names the profile.
const PROFILE: &str = "profile";

/// Settings under the server's own names, in the form of its command line.
pub type ServerSettings = BTreeMap<&'static str, String>;

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub struct OwnServer {
    pub process: LoggedProcess,
    pub data: PathBuf,
    pub sockets: SocketFolder,
    /// How its first database is reached.
    pub remote: Remote,
    pub report: ServerReport,
    pub product: OwnProduct,
}

/// The part that the products do in their own ways.
#[derive(Debug)]
pub struct OwnProduct {
    pub endpoint: fn(Remote) -> Endpoint,
    /// Makes the database of this name if there is none, and returns whether it is empty.
    pub make_database: fn(&Remote, &str) -> Result<bool, ServerError>,
    /// An orderly stop: the server ends its sessions and writes out the cache.
    pub stop: Signal,
}

impl Server for OwnServer {
    fn report(&self) -> &ServerReport {
        &self.report
    }

    fn alive(&mut self) -> Result<(), ServerError> {
        self.process.alive()
    }

    fn process(&self) -> u32 {
        self.process.id()
    }

    fn open_database(&self, number: u16) -> Result<FurtherDatabase, ServerError> {
        let remote = Remote { database: format!("{}_{number}", self.remote.database), ..self.remote.clone() };
        let is_empty = (self.product.make_database)(&self.remote, &remote.database)?;
        let report = ServerReport { endpoint: (self.product.endpoint)(remote), ..self.report.clone() };
        Ok(FurtherDatabase { report, is_empty })
    }

    fn stop(mut self: Box<Self>) -> Result<(), ServerError> {
        self.process.stop(self.product.stop, STOP_LIMIT)?;
        flush(&self.data)
    }
}

/// `version` is the query for the product's name and version.
pub fn report(admin: &mut dyn Admin, version: &str, endpoint: Endpoint) -> Result<ServerReport, ServerError> {
    let mut found = String::new();
    admin.ask(version, ReplyLimit::QUESTION, &mut |rows, row| {
        rows.text(row, 0).unwrap_or_default().clone_into(&mut found);
    })?;
    Ok(ServerReport { version: found, effective: admin.effective()?, endpoint })
}

/// Whether a query finds anything.
pub fn finds(admin: &mut dyn Admin, query: &str) -> Result<bool, SessionError> {
    let mut found = false;
    admin.ask(query, ReplyLimit::QUESTION, &mut |_, _| found = true).map(|()| found)
}

/// The settings of the profile named in a study's table, overridden by the table's own. `own` turns a key and its value
/// into the server's setting; in the value, sizes are bytes and spans milliseconds.
pub fn over_profile(
    kind: &str,
    table: &Map<String, Value>,
    keys: &[Key],
    own: fn(&Key, &Value) -> (&'static str, String),
    profile: impl FnOnce(&str, &Map<String, Value>) -> ServerSettings,
) -> Result<ServerSettings, ServerError> {
    // The version chooses the programs and is no setting of theirs.
    let table = table.iter().filter(|(name, _)| *name != VERSION);
    let table: Map<String, Value> = table.map(|(name, value)| (name.clone(), value.clone())).collect();
    let table = settings::check(&table, keys).map_err(|problems| {
        let why = problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ");
        ServerError::Settings { engine: kind.to_owned(), why }
    })?;
    let mut settings = profile(table.get(PROFILE).and_then(Value::as_str).unwrap_or_default(), &table);
    let given = keys.iter().filter(|key| key.name != PROFILE);
    settings.extend(given.filter_map(|key| Some(own(key, table.get(key.name)?))));
    Ok(settings)
}

/// `max_connections` of these settings, or the server's default.
pub fn most_sessions(settings: &ServerSettings, default: u32) -> Option<u32> {
    settings.get("max_connections").map_or(Some(default), |most| most.parse().ok())
}

/// A span in whole seconds, rounded up, as servers expect it.
pub fn seconds(span_ms: &Value) -> u64 {
    span_ms.as_u64().unwrap_or_default().div_ceil(1000)
}

/// Gives every server the same surroundings: none of our environment, and a working folder that it may read.
pub fn surroundings(launch: Launch, account: Account, stand: &Path) -> Launch {
    account.run(launch.environment(&ENVIRONMENT).folder(stand))
}

/// The server's data folder below `place`; `init` makes it if it does not exist. It is renamed into place when
/// complete, so a folder left half made by a lost machine is not taken for a database.
pub fn data_folder(
    place: &Path,
    name: &str,
    account: Account,
    init: impl FnOnce(&Path) -> Result<(), ServerError>,
) -> Result<PathBuf, ServerError> {
    let data = place.join(name);
    if !data.exists() {
        let unfinished = place.join(format!("{name}.unfinished"));
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished).map_err(|source| failed("removing", &unfinished, source))?;
        }
        private_folder(&unfinished, account)?;
        init(&unfinished)?;
        fs::rename(&unfinished, &data).map_err(|source| failed("renaming", &unfinished, source))?;
    }
    Ok(data)
}

/// The private folder of a server's socket, beside its data. It is made when this is made.
///
/// The kernel takes paths of sockets only up to a length, and a folder of data may be deeper. So the server gets a path
/// from its data folder, where it stands, and we reach the socket through the folder that we hold open.
#[derive(Debug)]
pub struct SocketFolder {
    name: String,
    opened: File,
}

impl SocketFolder {
    pub fn make(place: &Path, name: &str, account: Account) -> Result<Self, ServerError> {
        let path = place.join(name);
        private_folder(&path, account)?;
        let opened = File::open(&path).map_err(|source| failed("opening", &path, source))?;
        Ok(Self { name: name.to_owned(), opened })
    }

    /// For the server, whose working folder is its data folder.
    pub fn for_server(&self) -> PathBuf {
        Path::new("..").join(&self.name)
    }

    /// For this process, while this lives.
    pub fn for_us(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.opened.as_raw_fd()))
    }
}

/// A folder that only the server's account may look into.
pub fn private_folder(path: &Path, account: Account) -> Result<(), ServerError> {
    const OWNER_ONLY: u32 = 0o700;
    DirBuilder::new()
        .recursive(true)
        .mode(OWNER_ONLY)
        .create(path)
        .and_then(|()| fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY)))
        .map_err(|source| failed("creating", path, source))?;
    account.own(path)
}

/// Waits until `open` can open a session. `is_starting` recognises the errors of a server that is not ready yet.
pub fn await_sessions(
    process: &mut LoggedProcess,
    open: &dyn Fn() -> Result<(), SessionError>,
    is_starting: fn(&SessionError) -> bool,
) -> Result<(), ServerError> {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        match open() {
            Ok(()) => return Ok(()),
            Err(error) if is_starting(&error) => {}
            Err(error) => return Err(error.into()),
        }
        process.wait(ATTEMPT_INTERVAL)?;
        process.alive()?;
        if Instant::now() > deadline {
            return Err(process.too_slow(START_LIMIT));
        }
    }
}

/// True if there is no socket yet, a dead server left one, or a server that is not ready hangs up.
pub fn is_not_there(error: &SessionError) -> bool {
    matches!(error, SessionError::Lost(cause) if matches!(
        cause.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::UnexpectedEof
    ))
}

/// The addresses to listen on, in the notation of servers.
pub fn listened(address: IpAddr) -> String {
    if address.is_unspecified() { "*".to_owned() } else { address.to_string() }
}

/// It has only letters and digits, so it can stand in a statement as it is.
pub fn random_password() -> Result<Secret, ServerError> {
    let bytes = random_bytes().map_err(|source| ServerError::Io { doing: "making a password".to_owned(), source })?;
    Ok(Secret::new(format!("{:032x}", u128::from_ne_bytes(bytes))))
}

/// Syncs the data to disk: a server that runs without flushing leaves its files to the operating system.
pub fn flush(data: &Path) -> Result<(), ServerError> {
    File::open(data)
        .and_then(|folder| rustix::fs::syncfs(&folder).map_err(io::Error::from))
        .map_err(|source| failed("flushing", data, source))
}

pub fn failed(doing: &str, path: &Path, source: io::Error) -> ServerError {
    ServerError::Io { doing: format!("{doing} {}", path.display()), source }
}
