//! A running server in a folder of its own, and how tests talk to it.

use crate::made;
use engines::admin::Admin;
use engines::admin::CountersOf;
use engines::catalog;
use engines::limit::ReplyLimit;
use engines::server::{Counters, Endpoint, Server, ServerPlace, ServerShape};
use engines::session::{Connect, Session, SessionError};
use engines::statement::Statement;
use engines::wait::block_on;
use std::cell::RefCell;
use std::fs::Permissions;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use uring::Ring;

/// Nothing here takes this long unless it hangs.
pub const LIMIT: Duration = Duration::from_mins(1);

pub const SHAPE: ServerShape = ServerShape { vcpus: 2, memory_bytes: 512 << 20 };

/// An engine under test.
pub trait Engine {
    const KIND: &'static str;
    /// An `[engine]` table with which conflicts show at once.
    const SETTINGS: &'static str;
    /// A type for texts of hundreds of thousands of bytes.
    const LONG_TEXT: &'static str = "TEXT";
    /// Takes the next order number of a district and returns it with the district's.
    /// How a statement goes on that can also read for several requests at once, where the engine has that.
    const OF_SEVERAL: &'static str = "";
    const NEXT_ORDER: &'static str =
        "UPDATE district SET next_order = next_order + 1 WHERE id = $1 RETURNING next_order - 1, id";
    /// A key column whose values the database generates.
    const NUMBERED: &'static str;
    /// Sums up revenue exactly.
    const REVENUE: &'static str = "SELECT SUM(price * (1 - discount) * (1 + tax)) FROM revenue";
    type Connect: Connect;
    fn connect(endpoint: &Endpoint, statements: Vec<Statement>) -> Self::Connect;
    /// Why it cannot be tested here; `None` if it can.
    fn missing() -> Option<String>;
}

pub struct Sqlite;

impl Engine for Sqlite {
    const KIND: &'static str = "sqlite";
    const SETTINGS: &'static str = r#"{ "busy_timeout": "10ms" }"#;
    const NUMBERED: &'static str = "INTEGER PRIMARY KEY";
    const REVENUE: &'static str = "SELECT SUM(price * (100 - discount) * (100 + tax)) || 'e-6' FROM revenue";
    type Connect = engines::sqlite::session::SqliteConnect;

    fn connect(endpoint: &Endpoint, statements: Vec<Statement>) -> Self::Connect {
        let Endpoint::Sqlite(address) = endpoint else { panic!("{endpoint:?}") };
        Self::Connect::new(address, statements)
    }

    fn missing() -> Option<String> {
        None
    }
}

pub struct Postgres;

impl Engine for Postgres {
    const KIND: &'static str = "postgres";
    const SETTINGS: &'static str = r#"{ "isolation": "repeatable read", "shared_buffers": "32MiB" }"#;
    const NUMBERED: &'static str = "BIGSERIAL PRIMARY KEY";
    type Connect = engines::postgres::session::PostgresConnect;

    fn connect(endpoint: &Endpoint, statements: Vec<Statement>) -> Self::Connect {
        let Endpoint::Postgres(address) = endpoint else { panic!("{endpoint:?}") };
        Self::Connect::new(address, statements)
    }

    fn missing() -> Option<String> {
        let installed = "/usr/lib/postgresql";
        (!Path::new(installed).is_dir())
            .then(|| format!("there is no {installed}; install Debian's package postgresql-15"))
    }
}

pub struct Mariadb;

impl Engine for Mariadb {
    const KIND: &'static str = "mariadb";
    const SETTINGS: &'static str = r#"{
        "isolation": "repeatable read", "innodb_snapshot_isolation": true, "innodb_buffer_pool_size": "32MiB"
    }"#;
    const LONG_TEXT: &'static str = "LONGTEXT";
    const OF_SEVERAL: &'static str =
        "; SELECT place, id, $2 + 0, words FROM placed WHERE (place, id) IN (($1, $3), ...)";
    const NUMBERED: &'static str = "BIGINT PRIMARY KEY AUTO_INCREMENT";
    const NEXT_ORDER: &'static str = "UPDATE district SET next_order = next_order + 1 WHERE id = $1; \
        SELECT next_order - 1, id FROM district WHERE id = $1";
    type Connect = engines::mysql::session::MysqlConnect;

    fn connect(endpoint: &Endpoint, statements: Vec<Statement>) -> Self::Connect {
        let Endpoint::Mysql(address) = endpoint else { panic!("{endpoint:?}") };
        Self::Connect::new(address, statements)
    }

    fn missing() -> Option<String> {
        let installed = "/usr/sbin/mariadbd";
        (!Path::new(installed).exists())
            .then(|| format!("there is no {installed}; install Debian's package mariadb-server"))
    }
}

/// A server and its folder.
pub struct Ground<E> {
    pub server: RefCell<Box<dyn Server>>,
    pub endpoint: Endpoint,
    pub place: ServerPlace,
    pub folder: TempDir,
    engine: PhantomData<E>,
}

impl<E: Engine> Ground<E> {
    /// `None`, with a message, if the engine is not installed here.
    pub fn new(settings: &str) -> Option<Self> {
        Self::listening(settings, None)
    }

    pub fn listening(settings: &str, listen: Option<SocketAddr>) -> Option<Self> {
        if let Some(why) = E::missing() {
            let required = std::env::var("REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == E::KIND), "{} is required, but {why}", E::KIND);
            eprintln!("SKIPPED {}: {why}", E::KIND);
            return None;
        }
        // The server's account must be able to enter it.
        let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
        let place = ServerPlace { data: folder.path().to_owned(), logs: folder.path().join("logs"), listen };
        made::put(E::KIND, &place.data);
        let server = start::<E>(settings, &place);
        let endpoint = server.report().endpoint.clone();
        Some(Self { server: RefCell::new(server), endpoint, place, folder, engine: PhantomData })
    }

    /// Stops the server and starts it again on the same data.
    pub fn restart(self, settings: &str) -> Self {
        self.server.into_inner().stop().unwrap();
        let server = start::<E>(settings, &self.place);
        let endpoint = server.report().endpoint.clone();
        Self { server: RefCell::new(server), endpoint, ..self }
    }

    pub fn admin(&self) -> Box<dyn Admin> {
        catalog::admin(&self.endpoint).unwrap()
    }

    pub fn counters(&self) -> Counters {
        self.admin().counters(CountersOf::DatabaseAndServer, ReplyLimit::QUESTION).unwrap()
    }

    pub fn script(&self, sql: &str) {
        self.admin().script(sql).unwrap();
    }

    pub fn session(&self, statements: &[(&'static str, &str)]) -> <E::Connect as Connect>::Session {
        self.try_session(statements).unwrap()
    }

    pub fn try_session(
        &self,
        statements: &[(&'static str, &str)],
    ) -> Result<<E::Connect as Connect>::Session, SessionError> {
        let statements = statements.iter().map(|(name, sql)| Statement { name, sql: (*sql).to_owned() }).collect();
        let mut session = E::connect(&self.endpoint, statements).connect()?;
        RING.with_borrow(|ring| match ring {
            Some(ring) => session.attach(ring, 0).map(drop),
            None => Ok(()),
        })
        .map_err(SessionError::Lost)?;
        Ok(session)
    }

    /// The single integer that a query returns.
    pub fn number(&self, sql: &str) -> i64 {
        let mut found = None;
        self.admin().scan(sql, &mut |rows, row| found = Some(rows.integer(row, 0).unwrap())).unwrap();
        found.unwrap()
    }
}

pub fn start<E: Engine>(settings: &str, place: &ServerPlace) -> Box<dyn Server> {
    try_start::<E>(settings, place).unwrap()
}

pub fn try_start<E: Engine>(
    settings: &str,
    place: &ServerPlace,
) -> Result<Box<dyn Server>, engines::server::ServerError> {
    let keys = catalog::entry(E::KIND).unwrap().keys;
    let table = settings::check(&serde_json::from_str(settings).unwrap(), keys).unwrap();
    catalog::start(E::KIND, &table, place, &SHAPE)
}

thread_local! {
    /// If a test has a ring, its sessions are attached to it.
    static RING: RefCell<Option<Ring>> = const { RefCell::new(None) };
}

/// Runs a test whose sessions are attached to a ring, as the driver's are. Skipped, with a message, where the kernel has none.
pub fn in_a_ring(test: impl FnOnce()) {
    match Ring::new() {
        Ok(ring) => RING.set(Some(ring)),
        Err(error) => return eprintln!("SKIPPED in a ring: {error}"),
    }
    test();
    RING.set(None);
}

/// Polls until the outcome is there, and lets the ring send and receive in between.
fn finish_in<T>(ring: &Ring, future: impl Future<Output = Result<T, SessionError>>) -> Result<T, SessionError> {
    let (mut future, deadline) = (pin!(future), Instant::now() + LIMIT);
    while Instant::now() < deadline {
        if let Poll::Ready(outcome) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return outcome;
        }
        ring.wait(Duration::from_millis(1), &mut Vec::new()).map_err(SessionError::Lost)?;
    }
    Err(SessionError::Lost(std::io::ErrorKind::TimedOut.into()))
}

/// Runs `body` on the session and waits until it is done.
pub fn done<S: Session, T>(
    session: &mut S,
    body: impl AsyncFnOnce(&mut S) -> Result<T, SessionError>,
) -> Result<T, SessionError> {
    if session.descriptor().is_some()
        && let Some(ring) = RING.take()
    {
        let outcome = finish_in(&ring, body(session));
        RING.set(Some(ring));
        return outcome;
    }
    let descriptor = session.descriptor().map(|descriptor| descriptor.try_clone_to_owned().unwrap());
    block_on(body(session), descriptor.as_ref().map(AsFd::as_fd), LIMIT)
}
