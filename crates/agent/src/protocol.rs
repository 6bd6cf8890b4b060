//! What is said between the conductor and an agent.
//!
//! One request is answered by any number of [`Reply::Tick`], [`Reply::Progress`], [`Reply::Interval`], [`Reply::Looks`],
//! [`Reply::Samples`] and [`Reply::Alive`], and then by exactly one final reply. Only [`Request::StartDriving`] and [`Request::StopDriving`] may
//! be sent while another request is being answered; they have no answer of their own.
//!
//! Every request has a number, which everything said about it repeats, so that what comes too late is not taken for the answer to
//! the request that follows. It has the number of a database of the machine as well, an *instance*, which is counted from 0. Only
//! [`Request::Drive`] is about several of them; what comes before its final reply says about which.

use crate::looks::Edge;
use crate::tables::Tables;
use driver::plan::{DrivePlan, Driven, Tick};
use engines::server::{Counters, Endpoint, ServerReport, ServerShape};
use record::check::{CheckResult, Moment};
use record::facts::Facts;
use record::intervals::Interval;
use record::looks::{Look, Looks};
use record::telemetry::{Sample, Series};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use workloads::dataset::Checksum;

/// Within a request nothing is longer silent than about this. While load is driven there is a tick every second, so no sign of life is
/// needed there that would be on its way while anything is measured.
pub const PULSE: Duration = Duration::from_secs(10);

/// A catalog entry by name, with its checked settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    pub kind: String,
    pub settings: Map<String, Value>,
}

impl Chosen {
    /// As it is written in a plan, the kind first.
    pub fn table(&self) -> Map<String, Value> {
        let kind = ("kind".to_owned(), Value::from(self.kind.as_str()));
        [kind].into_iter().chain(self.settings.clone()).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum Request {
    /// The machine's monotonic clock, now.
    Clock,
    /// The machine as it sees itself.
    Describe,
    StartServer {
        engine: Chosen,
        shape: ServerShape,
        listen: Option<SocketAddr>,
    },
    /// Takes a server that runs already, wherever that is. It is asked what any client may ask, and it is left as it is in the end.
    UseServer {
        endpoint: Endpoint,
    },
    StopServer,
    /// What there is of a workload's tables.
    Tables {
        workload: Chosen,
        /// Whether their sizes are held against the workload's settings.
        with_sizes: bool,
    },
    /// Drops the tables of a workload that are there.
    Clean {
        workload: Chosen,
    },
    /// Makes the tables of a workload and fills them.
    Load {
        workload: Chosen,
        writers: u32,
    },
    /// Checksums of all tables against the ones the definition gives.
    Verify {
        workload: Chosen,
        threads: u32,
    },
    Check {
        workload: Chosen,
        moment: Moment,
    },
    /// Figures that must move in step with the driver's totals.
    State {
        workload: Chosen,
    },
    Counters,
    /// What database and device have counted at this moment. While the machine is sampled, what sessions wait for is sampled
    /// from the first look to the second.
    Look {
        edge: Edge,
    },
    /// From now on everything that the machine counts is sampled, at whole seconds from this moment of its clock. The samples
    /// stay in the machine.
    StartSampling {
        origin_ns: u64,
    },
    StopSampling,
    Drive {
        workload: Chosen,
        /// One for each instance, from the first on.
        plans: Vec<DrivePlan>,
    },
    /// The moment of the machine's clock at which a drive that is together with others starts, after its [`Reply::Ready`].
    StartDriving {
        at_ns: u64,
    },
    StopDriving,
    /// The end of the server's log.
    ServerLog,
    /// Every instance down, data on disk. A guest powers off after answering.
    Shutdown,
}

impl Request {
    /// Whether it is about one of the machine's databases, and not about the machine or several of them.
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
    Tables(Tables),
    /// Those that were dropped.
    Cleaned(Vec<String>),
    Loaded {
        rows: BTreeMap<String, u64>,
    },
    Verified(BTreeMap<String, TableChecksum>),
    Findings(Vec<CheckResult>),
    State(BTreeMap<String, i64>),
    Counters(Counters),
    Look(Box<Look>),
    /// Of each instance. The seconds come before it, in [`Reply::Interval`]s, each when it is over.
    Driven(Vec<Driven>),
    /// What was sampled, without the samples: those come before it, in [`Reply::Samples`].
    Sampled(Box<Series>),
    ServerLog(String),
    Done,
    Failed(Failure),

    /// A sign of life of an agent that works at a request and has nothing to say yet.
    Alive,
    /// All sessions are open.
    Ready,
    /// Of all instances together.
    Tick(Tick),
    Progress {
        what: String,
        done: u64,
        of: u64,
    },
    Interval(Interval),
    /// What was seen within the window of a drive, before its [`Reply::Driven`].
    Looks(Box<Looks>),
    Samples(Vec<Sample>),
}

/// A table's checksum as the definition gives it and as the database has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableChecksum {
    pub expected: Checksum,
    pub stored: Checksum,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub why: String,
    /// What it is about, unless that is the machine or several.
    #[serde(default)]
    pub instance: Option<u16>,
    /// The end of the server's log, where there is one.
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
        };
        let endpoint = Endpoint::Postgres(remote);
        let report = ServerReport { version: "15".to_owned(), effective: BTreeMap::new(), endpoint };
        let reply = Reply::Started(Box::new(report));
        assert!(!format!("{reply:?} {reply:#?}").contains("hunter2"));
        let frame = serde_json::to_string(&reply).unwrap();
        assert_eq!(serde_json::from_str::<Reply>(&frame).unwrap(), reply);
    }
}
