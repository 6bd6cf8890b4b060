//! The list of platforms. Adding one is a folder and a line here.
//!
//! Planned surface (used by `study`, `trial`, `cli`):
//! - `pub const PLATFORMS: &[Entry]` with `Entry { kind: &'static str, meaning: &'static str, keys: &'static [settings::Key] }`
//! - `pub fn check(kind: &str, table: &Map, order: shape parts) -> Vec<settings::Problem>` — combinations a platform cannot honour, without effects
//! - `pub fn start(kind: &str, table: &Map, order: &MachineOrder) -> Result<Box<dyn machines::machine::Machine>, MachineError>`
