//! The host that a study is planned for.

use platforms::huge_pages::HugePages;
use platforms::placement::UsableCpus;

/// What the host has, so that problems such as too large a machine are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The CPUs that machines may use.
    pub topology: UsableCpus,
    pub memory_bytes: u64,
    /// Free huge pages, for machines that use them as memory.
    pub huge_pages: HugePages,
}

impl Host {
    pub fn cpus(&self) -> usize {
        self.topology.cpus().len()
    }
}
