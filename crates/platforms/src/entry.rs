//! A platform as the catalog lists it.

use crate::capabilities::Capabilities;
use crate::order::MachineRequest;
use crate::platform::{OpenOrder, Platform};
use machines::machine::MachineError;
use serde_json::{Map, Value};
use settings::{Key, Problem};
use std::path::Path;

type Check = fn(&Map<String, Value>, &MachineRequest<'_>) -> Vec<Problem>;
/// The lack of a contender here, if it is known without starting anything. The folder is the cache with remembered
/// answers.
type ForeseenOn = fn(&Map<String, Value>, &Path) -> Option<Foreseen>;
type Can = fn(&Map<String, Value>) -> Capabilities;
pub(crate) type Open = fn(&Map<String, Value>, &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError>;

/// A lack of a contender, and its reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Foreseen {
    Kvm(String),
    Limits(String),
}

/// A platform.
#[derive(Debug, Clone, Copy)]
pub struct PlatformEntry {
    pub kind: &'static str,
    pub meaning: &'static str,
    pub keys: &'static [Key],
    /// With a contender's settings.
    pub can: Can,
    pub check: Check,
    pub foreseen: ForeseenOn,
    /// Once for each contender's settings in a run.
    pub open: Open,
}
