//! An engine as studies and lists see it.

use crate::statement::Dialect;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a study and `bakeoff list` need to know about an engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineEntry {
    pub kind: &'static str,
    pub meaning: &'static str,
    /// Keys of the study's `[engine]` table besides `kind`.
    pub keys: &'static [settings::Key],
    /// Whether sessions may come from outside the machine.
    pub remote: bool,
    pub dialect: Dialect,
    /// The least space that its folder takes before it holds a row, measured with the default settings.
    pub empty_bytes: u64,
    /// How many sessions its server takes at a time with these settings; `None` if it has no such limit.
    pub most_sessions: fn(&Map<String, Value>, &ServerShape) -> Option<u32>,
}

/// The machine's resources that the server may use; profiles derive settings from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerShape {
    pub vcpus: u32,
    pub memory_bytes: u64,
}
