//! What makes work due.

use serde::{Deserialize, Serialize};

/// Who works, and when.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Pacing {
    /// Clients that work back to back, each with a session of its own.
    Clients { clients: u32 },
    /// Clients that type before and think after each transaction; they share sessions.
    Terminals { terminals: u32, sessions: u32 },
    /// Work that arrives whether or not earlier work is done; it shares sessions.
    Arrivals { per_second: f64, process: ArrivalProcess, sessions: u32 },
}

impl Pacing {
    /// The number of emulated users.
    pub fn clients(self) -> u32 {
        match self {
            Self::Clients { clients } => clients,
            Self::Terminals { terminals, .. } => terminals,
            Self::Arrivals { .. } => 0,
        }
    }

    /// The number of sessions for the transactions that clients wait for.
    pub fn sessions(self) -> u32 {
        match self {
            Self::Clients { clients } => clients,
            Self::Terminals { sessions, .. } | Self::Arrivals { sessions, .. } => sessions,
        }
    }
}

/// How arrivals are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalProcess {
    /// Independent of each other, as from many users: times between them are exponential.
    #[default]
    Poisson,
    /// Times between them are equal.
    Uniform,
}
