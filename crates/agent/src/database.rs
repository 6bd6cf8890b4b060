//! The database that requests are about. Its server was started here, or it was there already, in which case less can
//! be known of it.

use crate::loading::LoadError;
use crate::looks::Edge;
use crate::waits::WaitSampling;
use engines::limit::Limit;
use engines::reused_admin::ReusedAdmin;
use engines::server::{Counters, Endpoint, Server, ServerError, ServerReport};
use engines::session::SessionError;
use engines::statement::Dialect;
use machines::clock::monotonic_ns;
use record::looks::Look;
use record::waits::{REASON_BYTES, cut};
use std::collections::BTreeMap;
use std::path::Path;

/// Why some facts of a server that was there already are not known.
pub(crate) const NOT_OURS: &str = "the server was not started by bakeoff, and where it runs is not known";

pub(crate) struct Database {
    /// The server that was started here; `None` if it was there already.
    server: Option<Box<dyn Server>>,
    /// This also keeps an SQLite file open: closing the last connection would clear its log away.
    connection: ReusedAdmin,
    /// `Some` while what its sessions wait for is sampled.
    waits: Option<WaitSampling>,
}

impl Database {
    pub fn started(server: Box<dyn Server>) -> Self {
        let connection = ReusedAdmin::new(server.report().endpoint.clone());
        Self { server: Some(server), connection, waits: None }
    }

    /// Uses the database at this endpoint; also returns what it says of itself. Its settings are not read back.
    pub fn found(endpoint: Endpoint) -> Result<(Self, ServerReport), SessionError> {
        let question = match endpoint.dialect() {
            Dialect::Sqlite => "SELECT sqlite_version()",
            Dialect::Postgres | Dialect::Mysql => "SELECT version()",
        };
        let mut connection = ReusedAdmin::new(endpoint.clone());
        let version = connection.ask(|admin| {
            let mut version = String::new();
            admin.ask(question, Limit::QUESTION, &mut |rows, row| {
                rows.text(row, 0).unwrap_or_default().clone_into(&mut version);
            })?;
            Ok(version)
        })?;
        let report = ServerReport { version, effective: BTreeMap::new(), endpoint };
        Ok((Self { server: None, connection, waits: None }, report))
    }

    pub fn endpoint(&self) -> &Endpoint {
        self.connection.endpoint()
    }

    /// Fails if a server that was started here has died.
    pub fn alive(&mut self) -> Result<(), ServerError> {
        self.server.as_mut().map_or(Ok(()), |server| server.alive())
    }

    /// Empty for a server that was there already: its login may not let us read them. The looks tell why.
    pub fn counters(&mut self) -> Result<Counters, ServerError> {
        if self.server.is_some() { self.counted(Limit::QUESTION) } else { Ok(Counters::new()) }
    }

    fn counted(&mut self, limit: Limit) -> Result<Counters, ServerError> {
        self.alive()?;
        Ok(self.connection.ask(|admin| admin.counters(limit))?)
    }

    /// Samples what sessions wait for only between the looks, so that neither look shows up in the samples.
    pub fn look(&mut self, data: &Path, edge: Edge, is_sampled: bool) -> Look {
        match edge {
            Edge::Start => {
                let look = self.seen(data);
                self.waits = is_sampled.then(|| WaitSampling::begin(self.endpoint().clone()));
                look
            }
            Edge::End => {
                let waits = self.waits.take().map(WaitSampling::end);
                Look { waits, ..self.seen(data) }
            }
        }
    }

    /// Reads all counters. If one cannot be read, the look has the reason instead, and measuring goes on.
    fn seen(&mut self, data: &Path) -> Look {
        let before = monotonic_ns();
        let counters = self.counted(Limit::LOOK).map_err(|error| cut(&error.to_string(), REASON_BYTES).to_owned());
        let (device, cpu) = if self.server.is_some() {
            (telemetry::device_counts(Path::new("/"), data), telemetry::cpu_time(Path::new("/")))
        } else {
            (Err(NOT_OURS.to_owned()), Err(NOT_OURS.to_owned()))
        };
        let took_ns = monotonic_ns() - before;
        let database = counters.as_ref().map(|counters| self.endpoint().in_shared_words(counters).in_bounds());
        Look {
            at_ns: before + took_ns / 2,
            took_ns,
            database: database.map_err(Clone::clone).into(),
            device: device.into(),
            cpu: cpu.into(),
            counters: counters.unwrap_or_default(),
            waits: None,
        }
    }

    /// Gives an SQLite file that was there already the journal that bakeoff gives its own files. The file keeps it.
    pub fn make_ready_to_load(&mut self) -> Result<(), LoadError> {
        if self.server.is_some() || self.endpoint().dialect() != Dialect::Sqlite {
            return Ok(());
        }
        let choose = self.connection.ask(|admin| admin.script("PRAGMA journal_mode = wal"));
        choose.map_err(|source| LoadError::Script { doing: "choosing the journal", source })
    }

    /// The process of the server.
    pub fn process(&self) -> Result<u32, &'static str> {
        self.server.as_ref().map(|server| server.process()).ok_or(NOT_OURS)
    }

    /// Stops a server that was started here, and leaves one that was there already.
    pub fn stop(self) -> Result<(), ServerError> {
        let Self { server, connection, .. } = self;
        drop(connection);
        server.map_or(Ok(()), Server::stop)
    }
}
