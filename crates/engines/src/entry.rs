//! An engine as studies and lists see it.

use crate::statement::Dialect;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

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
    /// Settings by which its server may lose what it acknowledged, or break.
    pub losing: &'static [LosingSetting],
}

/// Values of a setting by which a server may lose what it acknowledged.
#[derive(Debug, Clone, Copy)]
pub struct LosingSetting {
    pub name: &'static str,
    /// In small letters.
    pub values: &'static [&'static str],
    /// The values of another setting without which they lose nothing.
    pub beside: Option<(&'static str, &'static [&'static str])>,
}

impl LosingSetting {
    pub const fn new(name: &'static str, values: &'static [&'static str]) -> Self {
        Self { name, values, beside: None }
    }
}

impl EngineEntry {
    /// Of the settings in force, those by which the server may lose what it acknowledged: "fsync=off".
    pub fn losing_of(&self, effective: &BTreeMap<String, String>) -> Vec<String> {
        let found = |name: &str, values: &[&str]| {
            effective.get(name).filter(|value| values.contains(&value.to_lowercase().as_str()))
        };
        let loses = |setting: &LosingSetting| {
            let value = found(setting.name, setting.values)?;
            let is_in_force = setting.beside.is_none_or(|(name, values)| found(name, values).is_some());
            is_in_force.then(|| format!("{}={value}", setting.name))
        };
        self.losing.iter().filter_map(loses).collect()
    }
}

/// The machine's resources that the server may use; profiles derive settings from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerShape {
    pub vcpus: u32,
    pub memory_bytes: u64,
}
