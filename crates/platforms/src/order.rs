//! The orders that a platform gets.

use crate::huge_pages::HugePages;
use crate::placement::{Place, cpu_list};
use images::KernelChoice;
pub use machines::boot::DataTuning;
use machines::cgroup::CpuQuota;
use machines::machine::MachineError;
use settings::Problem;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// The recorded value for memory that is bound to no node.
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
    /// The share of its vCPUs' time that the whole machine may use; `None` without a quota.
    pub cpu_quota: Option<f64>,
    /// `None` on a platform that needs none.
    pub image: Option<images::Image>,
    /// Our own static binary, the agent inside.
    pub agent: PathBuf,
    /// The machine's own data, from a lease.
    pub data: images::data::DataDisk,
    pub mounting: Mounting,
    /// Folder for this machine's sockets, console and temporary files; on the host, short-lived.
    pub scratch: PathBuf,
    /// Folder of answers remembered between runs, such as whether KVM works here.
    pub cache: PathBuf,
    pub reached: Reached,
}

/// How servers in a machine are reached by load from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The address of this host, where the machine has none of its own: loopback, unless the load comes from other hosts.
    pub address: IpAddr,
    /// Ports inside that must be reachable.
    pub ports: Vec<u16>,
}

impl Default for Reached {
    fn default() -> Self {
        Self { address: Ipv4Addr::LOCALHOST.into(), ports: Vec::new() }
    }
}

/// How the data are mounted, if they are on a disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mounting {
    /// Whether an image that cannot be mounted is an error. Else its content may be copied out of it, as it is without the
    /// journal of its file system.
    pub must: bool,
    pub tuning: DataTuning,
}

/// Called as soon as the machine's process runs, long before the machine has booted. It is called again if the
/// preferred way of making the machine fails and another is tried.
pub type Launched<'a> = &'a dyn Fn();

/// The requirements of a study on a machine that some platforms cannot meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineRequest<'a> {
    /// How many machines run side by side.
    pub count: u32,
    pub vcpus: u32,
    pub memory_bytes: u64,
    /// The kernel that a guest boots.
    pub kernel: &'a KernelChoice,
    /// True if the load comes over the network.
    pub is_reached_from_outside: bool,
    /// The places of the machines; empty if they are not known.
    pub places: &'a [Place],
    /// The host's huge pages.
    pub huge_pages: &'a HugePages,
    /// The host's isolated CPUs.
    pub isolated: &'a BTreeSet<usize>,
}

impl MachineRequest<'_> {
    /// Refuses a machine whose threads the kernel has to move over its CPUs, if it does not. A guest's vCPUs are pinned one by one.
    pub(crate) fn on_isolated_cpus(&self) -> Option<Problem> {
        let used = self.places.iter().flat_map(Place::vcpu_cpus).copied().filter(|cpu| self.isolated.contains(cpu));
        let used: BTreeSet<usize> = used.collect();
        (self.vcpus > 1 && !used.is_empty()).then(|| {
            let used = cpu_list::written(&Vec::from_iter(used));
            let found = format!("found a machine on CPUs {used}, over which the kernel moves no thread");
            let expected =
                "CPUs that are not isolated (isolcpus): start bakeoff without taskset, or name CPUs in machine.cpus";
            Problem::new("kind", found, expected)
        })
    }
}

impl MachineOrder {
    pub(crate) fn image(&self) -> Result<&images::Image, MachineError> {
        self.image.as_ref().ok_or_else(|| MachineError::Unavailable { why: "it needs an image".to_owned() })
    }

    /// The CPU time that is this share of the vCPUs' time.
    pub(crate) fn cpu_time(&self, share: f64) -> CpuQuota {
        CpuQuota::of_cpus(share * f64::from(self.vcpus))
    }
}
