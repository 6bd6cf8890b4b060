//! What agents and conductors say to each other, and the subjects that they say it on.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The build of bakeoff that is spoken with. Both ends must be the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    pub version: String,
    /// SHA-256 of the program's file.
    pub sha256: String,
}

impl std::fmt::Display for Build {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({})", self.version, self.sha256.get(..12).unwrap_or(&self.sha256))
    }
}

/// An agent, as it describes itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Present {
    /// The name by which studies know its host.
    pub name: String,
    /// Drawn when it started.
    pub instance: String,
    pub build: Build,
    /// An identity that only its machine has.
    pub machine: String,
    pub cpus: usize,
    pub memory_bytes: u64,
    /// Programs that want to run there, over the last minute.
    pub load: f64,
    /// Time of day there.
    pub unix_ns: u64,
    /// Lines that are open.
    pub lines: usize,
}

/// A conductor asks an agent to run a script. It may ask again, since an answer may be lost.
#[derive(Debug, Serialize, Deserialize)]
pub struct OpenScript {
    /// Drawn for this line.
    pub line: String,
    pub script: String,
    pub build: Build,
    pub conductor: Addresses,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenedScript {
    Yes,
    Refused { why: String },
}

/// Where one end stands in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    /// Its own address, as the server sees it.
    pub own: IpAddr,
    /// The server's, as it is reached from there.
    pub server: IpAddr,
}

impl Addresses {
    /// The address of this end, for the other one. An end on the server's own host knows itself only as the loopback.
    pub fn seen_from(&self, other: &Self) -> IpAddr {
        if self.own.is_loopback() && !other.own.is_loopback() { other.server } else { self.own }
    }
}

/// The subjects of one fleet.
#[derive(Debug, Clone)]
pub struct Subjects(String);

impl Subjects {
    pub fn of(fleet: &str) -> Self {
        Self(format!("bakeoff.{fleet}"))
    }

    /// Every agent says who it is.
    pub fn who(&self) -> String {
        format!("{}.who", self.0)
    }

    /// Every agent ends.
    pub fn down(&self) -> String {
        format!("{}.down", self.0)
    }

    /// One agent says who it is.
    pub fn who_is(&self, name: &str) -> String {
        format!("{}.agent.{name}.who", self.0)
    }

    /// One agent runs a script.
    pub fn open(&self, name: &str) -> String {
        format!("{}.agent.{name}.open", self.0)
    }

    pub fn to_agent(&self, line: &str) -> String {
        format!("{}.line.{line}.in", self.0)
    }

    pub fn to_conductor(&self, line: &str) -> String {
        format!("{}.line.{line}.out", self.0)
    }
}

/// A name of an agent is one word of a subject. `ssh` takes dots in names of hosts, and so do studies.
pub fn word_of(name: &str) -> String {
    name.replace('%', "%25").replace('.', "%2E").replace('*', "%2A").replace('>', "%3E")
}

#[cfg(test)]
mod tests {
    use super::{Addresses, word_of};

    #[test]
    fn an_end_on_the_servers_host_is_known_by_the_servers_address() {
        let addresses =
            |own: &str, server: &str| Addresses { own: own.parse().unwrap(), server: server.parse().unwrap() };
        let (near, far) = (addresses("127.0.0.1", "127.0.0.1"), addresses("10.0.0.7", "10.0.0.1"));
        assert_eq!(near.seen_from(&far).to_string(), "10.0.0.1");
        assert_eq!(far.seen_from(&near).to_string(), "10.0.0.7");
        assert_eq!(near.seen_from(&near).to_string(), "127.0.0.1");
    }

    #[test]
    fn every_name_is_one_word() {
        assert_eq!(word_of("db-1.lab.example"), "db-1%2Elab%2Eexample");
        assert_ne!(word_of("a.b"), word_of("a%2Eb"));
    }
}
