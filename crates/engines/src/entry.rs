//! An engine as studies and lists see it.

use crate::statement::Dialect;

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
}
