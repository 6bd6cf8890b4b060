//! What a platform is asked for.

use crate::huge_pages::HugePages;
use crate::placement::Place;
use machines::cgroup::CpuTime;
use machines::machine::MachineError;
use std::path::PathBuf;

/// What platforms say of memory that is bound to no node.
pub(crate) const UNBOUND_MEMORY: &str = "as the host's kernel has it";

/// One machine, completely decided.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineOrder {
    /// Unique on this host while the run lasts; names processes and files.
    pub name: String,
    pub vcpus: u32,
    pub memory_bytes: u64,
    /// Where on the host it runs.
    pub place: Place,
    /// The share of its vCPUs' time that all of the machine may use together, if it is to be held to one.
    pub cpu_quota: Option<f64>,
    /// None on a platform that needs none.
    pub image: Option<images::Image>,
    /// Our own static binary, to be the agent inside.
    pub agent: PathBuf,
    /// Its own, from a lease.
    pub data: images::data::DataDisk,
    /// Folder of this machine's sockets, console and temporary files; on the host, short-lived.
    pub scratch: PathBuf,
    /// Folder of answers remembered between runs, such as whether KVM works here.
    pub cache: PathBuf,
    /// Ports inside that must be reachable from the host, for load from outside.
    pub ports: Vec<u16>,
}

/// Called as soon as the machine's process runs, long before it has booted; more than once if a machine that could not
/// be made as wished is made in another way.
pub type Launched<'a> = &'a dyn Fn();

/// What a study asks of a machine on any platform, as far as there are platforms that cannot honour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineRequest<'a> {
    /// Machines side by side.
    pub count: u32,
    pub vcpus: u32,
    pub memory_bytes: u64,
    /// Which of Debian's kernels a guest boots: "cloud" or "generic".
    pub kernel: &'a str,
    /// The load comes over the network.
    pub is_reached_from_outside: bool,
    /// Where machines are to run, as far as that can be told.
    pub places: &'a [Place],
    /// Those that the host has.
    pub huge_pages: &'a HugePages,
}

impl MachineOrder {
    pub(crate) fn image(&self) -> Result<&images::Image, MachineError> {
        self.image.as_ref().ok_or_else(|| MachineError::Unavailable { why: "it needs an image".to_owned() })
    }

    /// CPU time for a share of what its vCPUs have.
    pub(crate) fn cpu_time(&self, share: f64) -> CpuTime {
        CpuTime::of_cpus(share * f64::from(self.vcpus))
    }
}
