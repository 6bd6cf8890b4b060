//! The list of engines. Adding one is a folder, its module, and a line here.

use crate::admin::Admin;
use crate::entry::EngineEntry;
use crate::remote::Remote;
use crate::server::{Counters, Server, ServerError, ServerPlace, ServerShape};
use crate::session::{Connect, SessionError};
use crate::statement::{Dialect, Statement};
use crate::{mysql, postgres, sqlite};
use record::looks::DatabaseCounts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::net::SocketAddr;

/// Makes from one list: the entries, how a server is reached, and what is done there, whichever engine it is.
macro_rules! engines {
    ($($(#[$note:meta])* $engine:ident($address:ty) in $folder:ident by $connect:ident;)+) => {
        pub const ENGINES: &[EngineEntry] = &[$($folder::ENTRY),+];

        /// How to reach a running server.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "engine", rename_all = "kebab-case")]
        pub enum Endpoint {
            $($(#[$note])* $engine($address)),+
        }

        impl Endpoint {
            /// The same server as reached from outside its machine; in-process engines have no outside.
            #[must_use]
            pub fn reached_at(self, outside: SocketAddr) -> Self {
                match self { $(Self::$engine(address) => Self::$engine(address.reached_at(outside))),+ }
            }

            /// The same server, for the SQL of bakeoff's own workloads or for a user's.
            #[must_use]
            pub fn for_sql(self, own: bool) -> Self {
                match self { $(Self::$engine(address) => Self::$engine(address.for_sql(own))),+ }
            }

            /// Its counters in the words that all engines share; what an engine does not count is absent.
            pub fn in_shared_words(&self, counters: &Counters) -> DatabaseCounts {
                match self { $(Self::$engine(_) => $folder::counters::in_shared_words(counters)),+ }
            }

            /// True if another process of this host serves it, as far as the address shows.
            pub fn is_served_here(&self) -> bool {
                match self { $(Self::$engine(address) => address.is_served_here()),+ }
            }

            /// The port that it listens at; `None` for a socket or a file.
            pub fn port(&self) -> Option<u16> {
                match self { $(Self::$engine(address) => address.port()),+ }
            }

            /// The SQL that is spoken there.
            pub fn dialect(&self) -> Dialect {
                match self { $(Self::$engine(_) => $folder::ENTRY.dialect),+ }
            }
        }

        /// As a URL without what is secret, for messages.
        impl fmt::Display for Endpoint {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&match self { $(Self::$engine(address) => address.shown(self.dialect().name())),+ })
            }
        }

        /// Creates the database if the data disk has none, else starts what is there. `table` was checked against the
        /// entry's keys.
        pub fn start(
            kind: &str,
            table: &Map<String, Value>,
            place: &ServerPlace,
            shape: &ServerShape,
        ) -> Result<Box<dyn Server>, ServerError> {
            match kind {
                $($folder::KIND => Ok(Box::new($folder::server::start(table, place, shape)?)),)+
                _ => Err(ServerError::Settings { engine: kind.to_owned(), why: "there is no such engine".to_owned() }),
            }
        }

        /// A blocking connection for scripts, checks and loading.
        pub fn admin(endpoint: &Endpoint) -> Result<Box<dyn Admin>, SessionError> {
            Ok(match endpoint { $(Endpoint::$engine(address) => Box::new($folder::admin::open_admin(address)?)),+ })
        }

        /// Hands over what opens sessions at `endpoint`, each with these statements prepared; they must be in the
        /// endpoint's dialect.
        pub fn connect<V: ConnectVisitor>(endpoint: &Endpoint, statements: Vec<Statement>, visitor: V) -> V::Answer {
            match endpoint {
                $(Endpoint::$engine(address) => visitor.visit(&$folder::session::$connect::new(address, statements))),+
            }
        }
    };
}

engines! {
    Sqlite(sqlite::settings::DatabaseFile) in sqlite by SqliteConnect;
    /// A Unix socket is named by its folder. A server that listens beyond its own machine asks for the password there; it
    /// is made at random for each start.
    Postgres(Remote) in postgres by PostgresConnect;
    /// MariaDB or MySQL. A Unix socket is named by its own path. For the password the same holds.
    Mysql(Remote) in mysql by MysqlConnect;
}

impl Endpoint {
    /// Stands for an endpoint where there is no server.
    pub fn nowhere() -> Self {
        Self::Sqlite(sqlite::settings::DatabaseFile::default())
    }
}

/// Code that uses sessions of any engine: the load engine is generic over their type.
pub trait ConnectVisitor {
    type Answer;
    fn visit<C: Connect + Sync>(self, connect: &C) -> Self::Answer;
}

pub fn entry(kind: &str) -> Option<&'static EngineEntry> {
    ENGINES.iter().find(|entry| entry.kind == kind)
}

/// The entry of an engine, or of the engine of this dialect: a server that runs already is known by its dialect.
pub fn entry_of_server(kind: &str) -> Option<&'static EngineEntry> {
    entry(kind).or_else(|| ENGINES.iter().find(|entry| entry.dialect.name() == kind))
}
