//! What a platform is asked for.

use std::path::PathBuf;

/// One machine, completely decided.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineOrder {
    /// Unique on this host while the run lasts; names processes and files.
    pub name: String,
    pub vcpus: u32,
    pub memory_bytes: u64,
    /// Host CPUs the machine may use, one for each vCPU.
    pub cpus: Vec<usize>,
    pub image: images::Image,
    /// Our own static binary, to be the agent inside.
    pub agent: PathBuf,
    /// A private writable clone of the loaded data.
    pub data: images::data::DataDisk,
    /// Folder of this machine's sockets, console and temporary files; on the host, short-lived.
    pub scratch: PathBuf,
    /// Folder of answers remembered between runs, such as whether KVM works here.
    pub cache: PathBuf,
    /// Port inside that must be reachable from the host, for load from outside.
    pub port: Option<u16>,
}

/// What a study asks of a machine whatever its platform, as far as a platform may be unable to honour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'a> {
    pub vcpus: u32,
    pub memory_bytes: u64,
    /// Which of Debian's kernels a guest boots: "cloud" or "generic".
    pub kernel: &'a str,
    /// The load comes over the network.
    pub is_reached_from_outside: bool,
}
