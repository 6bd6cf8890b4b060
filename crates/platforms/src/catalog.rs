//! The list of platforms. A new one is a folder and an entry here.

use crate::lease::{Lease, LeaseOrder};
use crate::order::{Launched, MachineOrder, MachineRequest};
use crate::{native, qemu};
use images::data::DataError;
use machines::machine::{Machine, MachineError};
use serde_json::{Map, Value};
use settings::{Key, Problem};
use std::path::Path;

type Check = fn(&Map<String, Value>, &MachineRequest<'_>) -> Vec<Problem>;
/// What a contender will lack here, if that is known without starting anything. The folder is the cache with remembered
/// answers.
type Foreseen = fn(&Map<String, Value>, &Path) -> Option<String>;
type MakeLease = fn(&LeaseOrder<'_>) -> Result<Lease, DataError>;
pub(crate) type Start = fn(&Map<String, Value>, &MachineOrder, Launched<'_>) -> Result<Box<dyn Machine>, MachineError>;

/// The parts that machines use of an image built on this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageUse {
    #[default]
    None,
    /// They run on the host's kernel.
    Tree,
    /// They boot the image's kernel.
    TreeAndKernel,
}

/// The properties that decide the phases of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    pub image: ImageUse,
    /// Its data are loaded in its own machine, into a folder. Otherwise they are loaded natively and become a disk.
    pub owns_data: bool,
    /// It really does what it is asked to do: there are data to check and a host to watch.
    pub executes: bool,
    /// A server is started in its machine, on bakeoff's own data. Otherwise a server already runs, with any data.
    pub starts_server: bool,
}

/// A platform.
#[derive(Debug, Clone, Copy)]
pub struct PlatformEntry {
    pub kind: &'static str,
    pub meaning: &'static str,
    pub keys: &'static [Key],
    pub can: Capabilities,
    pub check: Check,
    pub foreseen: Foreseen,
    /// Copies loaded data for one machine.
    pub lease: MakeLease,
    /// Starts a machine and waits until its agent has greeted; the last argument is called before that.
    /// [`MachineError::Unavailable`] means that this host cannot run the contender, and says why.
    pub start: Start,
}

pub const PLATFORMS: &[PlatformEntry] = &[
    PlatformEntry {
        kind: "native",
        meaning: "the image's tree on the host's own kernel, held to the shape's CPUs and memory",
        keys: native::settings::KEYS,
        can: Capabilities { image: ImageUse::Tree, owns_data: false, executes: true, starts_server: true },
        check: native::settings::check,
        foreseen: |_, _| None,
        lease: Lease::of_a_disk,
        start: native::machine::start,
    },
    PlatformEntry {
        kind: "qemu",
        meaning: "a virtual machine by QEMU, on KVM or emulated",
        keys: qemu::settings::KEYS,
        can: Capabilities { image: ImageUse::TreeAndKernel, owns_data: false, executes: true, starts_server: true },
        check: qemu::settings::check,
        foreseen: qemu::accelerator::foreseen,
        lease: Lease::of_a_disk,
        start: qemu::machine::start,
    },
];

pub fn entry(kind: &str) -> Option<&'static PlatformEntry> {
    PLATFORMS.iter().find(|entry| entry.kind == kind)
}

/// Combinations that a platform cannot run, and machines that it cannot make. This starts nothing. Each key is assumed
/// to be valid by itself; an unknown kind has no problems here.
pub fn check(kind: &str, table: &Map<String, Value>, request: &MachineRequest<'_>) -> Vec<Problem> {
    entry(kind).map_or_else(Vec::new, |entry| (entry.check)(table, request))
}

/// What a contender will lack on this host, if that is known before anything starts.
pub fn foreseen(kind: &str, table: &Map<String, Value>, cache: &Path) -> Option<String> {
    (entry(kind)?.foreseen)(table, cache)
}
