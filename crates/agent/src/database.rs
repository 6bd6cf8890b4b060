//! The database that requests are about. Its server was started here, or it was there already, in which case less can
//! be known of it.

use crate::loading::LoadError;
use crate::looks::Edge;
use crate::waits::WaitSampling;
use engines::admin::CountersOf;
use engines::limit::ReplyLimit;
use engines::reused_admin::ReusedAdmin;
use engines::server::{Counters, Endpoint, FurtherDatabase, Server, ServerError, ServerReport};
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
    origin: DataOrigin,
    /// This also keeps an SQLite file open: closing the last connection would clear its log away.
    connection: ReusedAdmin,
    /// `Some` while what its sessions wait for is sampled.
    waits: Option<WaitSampling>,
}

enum DataOrigin {
    Started(Box<dyn Server>),
    /// Its server was started for the machine's first database, and everything about the server is asked there.
    OfFirst,
    /// Its server was there already.
    Found,
}

impl Database {
    pub fn started(server: Box<dyn Server>) -> Self {
        let connection = ReusedAdmin::new(server.report().endpoint.clone());
        Self { origin: DataOrigin::Started(server), connection, waits: None }
    }

    /// Another database of the server of the first one.
    pub fn of_first(endpoint: Endpoint) -> Self {
        Self { origin: DataOrigin::OfFirst, connection: ReusedAdmin::new(endpoint), waits: None }
    }

    /// Opens another database of this one's server.
    pub fn open_further(&self, number: u16) -> Result<FurtherDatabase, Box<dyn std::error::Error>> {
        let DataOrigin::Started(server) = &self.origin else { return Err(NOT_OURS.into()) };
        Ok(server.open_database(number)?)
    }

    pub fn is_of_first(&self) -> bool {
        matches!(self.origin, DataOrigin::OfFirst)
    }

    fn is_found(&self) -> bool {
        matches!(self.origin, DataOrigin::Found)
    }

    /// Uses the database at this endpoint; also returns what it says of itself.
    pub fn found(endpoint: Endpoint) -> Result<(Self, ServerReport), SessionError> {
        let question = match endpoint.dialect() {
            Dialect::Sqlite => "SELECT sqlite_version()",
            Dialect::Postgres | Dialect::Mysql => "SELECT version()",
        };
        let mut connection = ReusedAdmin::new(endpoint.clone());
        let version = connection.ask(|admin| {
            let mut version = String::new();
            admin.ask(question, ReplyLimit::QUESTION, &mut |rows, row| {
                rows.text(row, 0).unwrap_or_default().clone_into(&mut version);
            })?;
            Ok(version)
        })?;
        let mut database = Self { origin: DataOrigin::Found, connection, waits: None };
        let report = ServerReport { version, effective: database.settings(), endpoint };
        Ok((database, report))
    }

    /// Its login may not let us read them. Comparisons then lack them, which is no reason not to measure.
    pub fn settings(&mut self) -> BTreeMap<String, String> {
        self.connection.ask(|admin| admin.effective()).unwrap_or_default()
    }

    pub fn endpoint(&self) -> &Endpoint {
        self.connection.endpoint()
    }

    /// Fails if a server that was started here has died.
    pub fn alive(&mut self) -> Result<(), ServerError> {
        match &mut self.origin {
            DataOrigin::Started(server) => server.alive(),
            DataOrigin::OfFirst | DataOrigin::Found => Ok(()),
        }
    }

    /// Empty for a server that was there already: its login may not let us read them. The looks say why.
    pub fn counters(&mut self) -> Result<Counters, ServerError> {
        if self.is_found() { Ok(Counters::new()) } else { self.counted(ReplyLimit::QUESTION) }
    }

    fn counted(&mut self, limit: ReplyLimit) -> Result<Counters, ServerError> {
        self.alive()?;
        let of = if self.is_of_first() { CountersOf::Database } else { CountersOf::DatabaseAndServer };
        Ok(self.connection.ask(|admin| admin.counters(of, limit))?)
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
        let counters = self.counted(ReplyLimit::LOOK).map_err(|error| cut(&error.to_string(), REASON_BYTES).to_owned());
        let (device, cpu) = if self.is_found() {
            (Err(NOT_OURS.to_owned()), Err(NOT_OURS.to_owned()))
        } else {
            (telemetry::device_counts(Path::new("/"), data), telemetry::cpu_time(Path::new("/")))
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
        let Endpoint::Sqlite(file) = self.endpoint() else { return Ok(()) };
        if !self.is_found() {
            return Ok(());
        }
        let choice = format!("PRAGMA journal_mode = {}", file.journal_mode);
        let choose = self.connection.ask(|admin| admin.script(&choice));
        choose.map_err(|source| LoadError::Script { doing: "choosing the journal", source })
    }

    /// The process of the server; `None` if it is that of the first database, or if it may be anywhere.
    pub fn process(&self) -> Option<u32> {
        match &self.origin {
            DataOrigin::Started(server) => Some(server.process()),
            DataOrigin::OfFirst | DataOrigin::Found => None,
        }
    }

    /// Stops a server that was started for this database, and leaves any other.
    pub fn stop(self) -> Result<(), ServerError> {
        let Self { origin, connection, .. } = self;
        drop(connection);
        match origin {
            DataOrigin::Started(server) => server.stop(),
            DataOrigin::OfFirst | DataOrigin::Found => Ok(()),
        }
    }
}
