//! A platform as the catalog lists it.

use crate::ahead::Ahead;
use crate::capabilities::Capabilities;
use crate::order::MachineRequest;
use crate::platform::{OpenOrder, Platform};
use machines::machine::{Decided, MachineError};
use serde_json::{Map, Value};
use settings::{Key, Problem};

type Check = fn(&Map<String, Value>, &MachineRequest<'_>) -> Vec<Problem>;
/// The facts about a contender's machine that are known without starting anything.
type Foresee = fn(&Map<String, Value>, &Ahead<'_>) -> Decided;
type Can = fn(&Map<String, Value>) -> Capabilities;
pub(crate) type Open = fn(&Map<String, Value>, &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError>;

/// A platform.
#[derive(Debug, Clone, Copy)]
pub struct PlatformEntry {
    pub kind: &'static str,
    pub meaning: &'static str,
    pub keys: &'static [Key],
    /// With a contender's settings.
    pub can: Can,
    pub check: Check,
    pub foreseen: Foresee,
    /// Once for each contender's settings in a run.
    pub open: Open,
}
