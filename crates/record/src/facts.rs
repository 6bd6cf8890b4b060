//! What was read from a host or a guest: plain facts, or the reason why there is none.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A fact as read, or why it could not be had. Never guessed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    Known(String),
    Unavailable(String),
}

impl Fact {
    pub fn known(text: impl Into<String>) -> Self {
        Self::Known(text.into())
    }

    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::Unavailable(why.into())
    }
}

impl std::fmt::Display for Fact {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(text) => formatter.write_str(text),
            Self::Unavailable(why) => write!(formatter, "unavailable, because {why}"),
        }
    }
}

/// Named facts about one system, as seen from inside it (`host.json`, and `guest` in `trial.json`).
/// Keys are dotted and stable (`cpu.model`, `memory.total_bytes`, `kernel.release`).
pub type Facts = BTreeMap<String, Fact>;
