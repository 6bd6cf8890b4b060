//! A look ahead: the facts about a contender's machine that are known before anything starts, by the names under which a trial
//! records them.

use crate::affinity;
use crate::on_host::tried::HostTrial;
use crate::order::UNBOUND_MEMORY;
use crate::placement::Place;
use images::KernelChoice;
use machines::machine::Decisions;
use std::cell::OnceCell;
use std::path::Path;

/// A machine that a contender will have.
#[derive(Debug, Clone, Copy)]
pub struct Ahead<'a> {
    pub memory_bytes: u64,
    pub place: &'a Place,
    /// The kernel that a guest boots.
    pub kernel: &'a KernelChoice,
    /// The block device that has its data, if no image file has them.
    pub device: Option<&'a str>,
    /// Answers of this host, which is asked once if a platform wants to know.
    pub tried: &'a OnceCell<HostTrial>,
    pub cache: &'a Path,
}

impl Ahead<'_> {
    /// Its CPUs, and the memory nodes that it is to be bound to.
    pub(crate) fn placed(&self) -> Decisions {
        let nodes = self.nodes().unwrap_or_else(|| UNBOUND_MEMORY.to_owned());
        let facts = [("host CPUs", affinity::list(self.place.vcpu_cpus())), ("memory node", nodes)];
        facts.into_iter().map(|(name, value)| (name.to_owned(), Ok(value))).collect()
    }

    /// Of the kernel that a guest boots; `None` if there is no such kernel.
    pub(crate) fn release(&self) -> Option<String> {
        let release = self.kernel.release(self.cache).ok()?;
        Some(release.unwrap_or_else(|| format!("that of {}, not fetched yet", self.kernel)))
    }

    pub(crate) fn nodes(&self) -> Option<String> {
        let nodes: Vec<String> = self.place.bound_to.iter().map(|share| share.node.to_string()).collect();
        (!nodes.is_empty()).then(|| nodes.join(","))
    }

    pub(crate) fn disk(&self) -> String {
        let image = || "ext4 in an image file".to_owned();
        self.device.map_or_else(image, |device| format!("ext4 on the block device {device}"))
    }
}
