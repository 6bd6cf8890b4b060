//! The messages between the conductor and an agent.
//!
//! One request is answered by any number of [`Reply::Ready`], [`Reply::Tick`], [`Reply::Progress`], [`Reply::Interval`],
//! [`Reply::Looks`], [`Reply::Samples`], [`Reply::Told`] and [`Reply::Alive`], and then by exactly one final reply. Only [`Request::StartDriving`]
//! and [`Request::StopDriving`] may be sent while another request is being answered. They have no answer of their own.
//!
//! Every request has a number, which all its replies repeat, so that a late reply is not taken for one to the next request. It
//! also has the number of one of the machine's databases, an *instance*, counted from 0. Only [`Request::Drive`] is about
//! several; replies before its final one each name one.

use crate::listed::Stay;
use crate::loading::TableChecksum;
use crate::looks::Edge;
use crate::tables::LoadedTables;
use driver::plan::{DrivePlan, Driven, Receipt, Tick};
use engines::server::{Counters, Endpoint, FurtherDatabase, ServerReport, ServerShape};
use record::check::{CheckResult, Moment};
use record::facts::Facts;
use record::intervals::Interval;
use record::looks::{Look, Looks};
use record::telemetry::{Sample, Series};
use serde::{Deserialize, Serialize};
use settings::Chosen;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// Within a request the agent is never silent for much longer than this. While load is driven there is a tick every
/// second, so no sign of life needs to be sent while anything is measured.
pub const PULSE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum Request {
    /// Reads the machine's monotonic clock.
    Clock,
    /// Asks how the machine describes itself.
    Describe,
    StartServer {
        engine: Chosen,
        shape: ServerShape,
        listen: Option<SocketAddr>,
    },
    /// Opens a further database of the server that was started for the first instance.
    OpenDatabase,
    /// Uses a server that runs already, wherever it is. The agent asks it what any client may ask, and never stops it.
    UseServer {
        endpoint: Endpoint,
    },
    StopServer,
    /// Ends the server at once, without letting it save anything. Its data stay as they are, to be started on again.
    KillServer,
    /// Asks which of a workload's tables there are.
    Tables {
        workload: Chosen,
        /// Whether their sizes are compared with the workload's settings, and procedures looked for.
        to_drive: bool,
    },
    /// Drops those tables of a workload that are on the database's list.
    Clean {
        workload: Chosen,
    },
    /// Makes the tables of a workload and fills them.
    Load {
        workload: Chosen,
        writers: u32,
        /// How long they stay in a database that is not ours. It then keeps a list of them; without one, only the end of the
        /// database ends them.
        stay: Option<Stay>,
    },
    /// Drops the tables that the database's list has for one trial.
    DropListed,
    /// Makes the table in which transactions leave their receipts.
    MakeReceipts,
    /// Asks for the numbers of all receipts that the database has.
    Receipts,
    /// Compares checksums of all tables with those by the workload's definition.
    Verify {
        workload: Chosen,
        threads: u32,
    },
    Check {
        workload: Chosen,
        moment: Moment,
    },
    /// Figures that must change in step with the driver's totals.
    State {
        workload: Chosen,
    },
    Counters,
    /// Reads the server's settings as they are now; none where the login may not read them.
    Settings,
    /// Reads the counters of database and device now. While the machine is sampled, what sessions wait for is sampled
    /// from the first look to the second.
    Look {
        edge: Edge,
    },
    /// Samples everything that the machine counts from now on, at whole seconds from this moment of its clock. The
    /// samples stay in the machine.
    StartSampling {
        origin_ns: u64,
    },
    StopSampling,
    Drive {
        workload: Chosen,
        /// One plan for each instance, from the first on.
        plans: Vec<DrivePlan>,
    },
    /// The moment of the machine's clock at which a drive together with others starts, after its [`Reply::Ready`].
    StartDriving {
        at_ns: u64,
    },
    StopDriving,
    /// The end of the server's log.
    ServerLog,
    /// Stops every instance and syncs the data to disk. A guest powers off after answering.
    Shutdown,
}

impl Request {
    /// Whether the request is about one of the machine's databases, not about the machine or several of them.
    pub fn is_about_one(&self) -> bool {
        !matches!(
            self,
            Self::Clock
                | Self::Describe
                | Self::StartSampling { .. }
                | Self::StopSampling
                | Self::Drive { .. }
                | Self::StartDriving { .. }
                | Self::StopDriving
                | Self::Shutdown
        )
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", content = "with", rename_all = "kebab-case")]
pub enum Reply {
    Clock {
        monotonic_ns: u64,
    },
    Description(Facts),
    Started(Box<ServerReport>),
    Opened(Box<FurtherDatabase>),
    Tables(LoadedTables),
    /// The tables that were dropped.
    Cleaned(Vec<String>),
    Loaded {
        rows: BTreeMap<String, u64>,
    },
    Verified(BTreeMap<String, TableChecksum>),
    Findings(Vec<CheckResult>),
    State(BTreeMap<String, i64>),
    Counters(Counters),
    Settings(BTreeMap<String, String>),
    Look(Box<Look>),
    /// Results of each instance. The seconds come earlier, in [`Reply::Interval`]s, each when it is over.
    Driven(Vec<Driven>),
    /// The series without its samples, which come earlier, in [`Reply::Samples`].
    Sampled(Box<Series>),
    ServerLog(String),
    /// The numbers of the receipts in the database.
    Receipts(Vec<i64>),
    Done,
    Failed(Failure),

    /// A sign of life of an agent that works at a request and has no other reply yet.
    Alive,
    /// All sessions are open.
    Ready,
    /// Over all instances together.
    Tick(Tick),
    Progress {
        what: String,
        done: u64,
        of: u64,
    },
    Interval(Interval),
    /// The looks within the window of a drive; they come before its [`Reply::Driven`].
    Looks(Box<Looks>),
    Samples(Vec<Sample>),
    /// Receipts of users while load is driven, if the plan asks for them.
    Told(Vec<Receipt>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub why: String,
    /// The instance that the failure is about; `None` if it is about the machine or several instances.
    #[serde(default)]
    pub instance: Option<u16>,
    /// The end of the server's log, if there is one.
    pub log: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use engines::remote::{Remote, Tls};
    use engines::secret::Secret;

    #[test]
    fn a_reply_carries_the_password_and_does_not_show_it() {
        let remote = Remote {
            host: "10.0.0.7".to_owned(),
            address: None,
            port: 5432,
            user: "postgres".to_owned(),
            database: "postgres".to_owned(),
            password: Some(Secret::new("hunter2")),
            tls: Tls::default(),
            own_sql: false,
        };
        let endpoint = Endpoint::Postgres(remote);
        let report = ServerReport { version: "15".to_owned(), effective: BTreeMap::new(), endpoint };
        let reply = Reply::Started(Box::new(report));
        assert!(!format!("{reply:?} {reply:#?}").contains("hunter2"));
        let frame = serde_json::to_string(&reply).unwrap();
        assert_eq!(serde_json::from_str::<Reply>(&frame).unwrap(), reply);
    }
}
