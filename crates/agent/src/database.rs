//! The database that requests are about: of a server that was started here, or of one that was there already, of which less can
//! be known.

use crate::loading::LoadError;
use crate::looks::{self, Edge};
use crate::waits::WaitSampling;
use engines::admin::Admin;
use engines::limit::Limit;
use engines::server::{Counters, Endpoint, Server, ServerError, ServerReport};
use engines::session::SessionError;
use engines::statement::Dialect;
use machines::clock::monotonic_ns;
use record::looks::{Look, Reading};
use std::collections::BTreeMap;
use std::path::Path;

/// Why things are not known of a server that was there already.
pub(crate) const NOT_OURS: &str = "the server was not started by bakeoff, and where it runs is not known";

pub(crate) enum Database {
    Started {
        server: Box<dyn Server>,
        /// While what its sessions wait for is sampled.
        waits: Option<WaitSampling>,
    },
    Found {
        endpoint: Box<Endpoint>,
        /// Kept open: SQLite clears its log away whenever the last connection closes.
        connection: Box<dyn Admin>,
    },
}

impl Database {
    pub fn started(server: Box<dyn Server>) -> Self {
        Self::Started { server, waits: None }
    }

    /// The one at this endpoint, and what it says of itself. Its settings are not read back, as its counters are not.
    pub fn found(endpoint: Endpoint) -> Result<(Self, ServerReport), SessionError> {
        let mut connection = engines::catalog::admin(&endpoint)?;
        let question = match endpoint.dialect() {
            Dialect::Sqlite => "SELECT sqlite_version()",
            Dialect::Postgres | Dialect::Mysql => "SELECT version()",
        };
        let mut version = String::new();
        connection.ask(question, Limit::QUESTION, &mut |rows, row| {
            rows.text(row, 0).unwrap_or_default().clone_into(&mut version);
        })?;
        let report = ServerReport { version, effective: BTreeMap::new(), endpoint: endpoint.clone() };
        Ok((Self::Found { endpoint: Box::new(endpoint), connection }, report))
    }

    pub fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Started { server, .. } => &server.report().endpoint,
            Self::Found { endpoint, .. } => endpoint,
        }
    }

    /// An error if a server that was started here has died.
    pub fn alive(&mut self) -> Result<(), ServerError> {
        match self {
            Self::Started { server, .. } => server.alive(),
            Self::Found { .. } => Ok(()),
        }
    }

    /// None of a server that was there already.
    pub fn counters(&mut self) -> Result<Counters, ServerError> {
        match self {
            Self::Started { server, .. } => server.counters(),
            Self::Found { .. } => Ok(Counters::new()),
        }
    }

    /// What sessions wait for is sampled between the looks, so that neither is seen in it.
    pub fn look(&mut self, data: &Path, edge: Edge, is_sampled: bool) -> Look {
        match self {
            Self::Started { server, waits } => match edge {
                Edge::Start => {
                    let look = looks::look(server.as_mut(), data);
                    *waits = is_sampled.then(|| WaitSampling::begin(server.report().endpoint.clone()));
                    look
                }
                Edge::End => {
                    let seen = waits.take().map(WaitSampling::end);
                    Look { waits: seen, ..looks::look(server.as_mut(), data) }
                }
            },
            Self::Found { .. } => Look {
                at_ns: monotonic_ns(),
                took_ns: 0,
                database: Reading::Unavailable(NOT_OURS.to_owned()),
                device: Reading::Unavailable(NOT_OURS.to_owned()),
                cpu: Reading::Unavailable(NOT_OURS.to_owned()),
                counters: Counters::new(),
                waits: None,
            },
        }
    }

    /// Gives a file that was there already the journal that files have which bakeoff makes itself; it stays with the file.
    pub fn make_ready_to_load(&mut self) -> Result<(), LoadError> {
        match self {
            Self::Found { endpoint, connection } if endpoint.dialect() == Dialect::Sqlite => connection
                .script("PRAGMA journal_mode = wal")
                .map_err(|source| LoadError::Script { doing: "choosing the journal", source }),
            Self::Found { .. } | Self::Started { .. } => Ok(()),
        }
    }

    /// The process that holds it.
    pub fn process(&self) -> Result<u32, &'static str> {
        match self {
            Self::Started { server, .. } => Ok(server.process()),
            Self::Found { .. } => Err(NOT_OURS),
        }
    }

    /// Stops what was started here, and leaves what was there already.
    pub fn stop(self) -> Result<(), ServerError> {
        match self {
            Self::Started { server, .. } => server.stop(),
            Self::Found { .. } => Ok(()),
        }
    }
}
