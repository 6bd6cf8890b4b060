//! The list of engines. Adding one is a folder and a line here.
//!
//! Planned surface (used by `agent`, `study`, `trial`):
//! - `pub const ENGINES: &[Entry]` with `Entry { kind: &'static str, meaning: &'static str, keys: &'static [settings::Key], remote: bool }`
//!   (`remote`: sessions may come from outside the machine)
//! - `pub fn start(kind: &str, table: &serde_json::Map<..>, place: &ServerPlace, shape: &ServerShape) -> Result<Box<dyn Server>, ServerError>`
//!   (creates the database if the data disk has none, else starts what is there)
//! - `pub fn admin(endpoint: &Endpoint) -> Result<Box<dyn Admin>, SessionError>`
