//! The list of workloads. Adding one is a folder and a line here.
//!
//! Planned surface (used by `agent`, `study`, `trial`, `cli`):
//! - `pub const WORKLOADS: &[Entry]` with `Entry { kind: &'static str, meaning: &'static str, keys: &'static [settings::Key] }`
//! - `pub enum AnyWorkload { OrderEntry(order_entry::OrderEntry) }` with `from_table(kind, &Map) -> Result<Self, Vec<settings::Problem>>`
//!   and `fn dataset(&self) -> &dyn Dataset`
//! - `metric` of each workload: name, unit and scale of its throughput figure ("NOPM", "new orders/min", per minute)
