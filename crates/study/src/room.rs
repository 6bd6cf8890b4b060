//! What machines side by side need from the host, what they leave, and where they run.

use crate::host::Host;
use crate::typed::TypedCell;
use platforms::capabilities::DataHome;
use platforms::placement::{self, Place};
use settings::Bytes;
use std::fmt;

/// The machines of a cell and the host they run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub machines: u32,
    pub vcpus_each: u32,
    pub memory_bytes_each: u64,
    pub host_cpus: usize,
    pub host_memory_bytes: u64,
}

/// The other host that the machine of a cell is on; `None` if it is this one.
pub fn other_host(cell: &TypedCell) -> Option<&str> {
    let is_elsewhere = cell.platform.can().data == DataHome::Elsewhere;
    is_elsewhere.then(|| cell.platform.host().unwrap_or_else(|| cell.platform_kind()))
}

/// The room of a cell; `None` on another host.
pub fn room(cell: &TypedCell, host: &Host) -> Option<Room> {
    let TypedCell { machine, .. } = Some(cell).filter(|cell| other_host(cell).is_none())?;
    Some(Room {
        machines: machine.count,
        vcpus_each: machine.vcpus,
        memory_bytes_each: machine.memory_bytes.0,
        host_cpus: host.cpus(),
        host_memory_bytes: host.memory_bytes,
    })
}

/// Where the machines of a cell will run if nothing changes until then; `None` on another host.
pub fn places(cell: &TypedCell, host: &Host) -> Option<Vec<Place>> {
    let TypedCell { machine, .. } = Some(cell).filter(|cell| other_host(cell).is_none())?;
    placement::place(&host.topology, &machine.policy().ok()?, machine.count, machine.vcpus, 0).ok()
}

impl Room {
    pub fn vcpus(&self) -> u64 {
        u64::from(self.machines) * u64::from(self.vcpus_each)
    }

    pub fn memory_bytes(&self) -> u64 {
        u64::from(self.machines).saturating_mul(self.memory_bytes_each)
    }
}

/// "3 machines of 1 vCPU and 1 GiB: 3 vCPUs on 4 CPUs; 3 GiB of 8.0 GiB, which leaves 5.0 GiB to the host".
impl fmt::Display for Room {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.host_memory_bytes.saturating_sub(self.memory_bytes());
        write!(
            formatter,
            "{} of {} and {}: {} on {}; {} of {}, which leaves {} to the host",
            counted(u64::from(self.machines), "machine"),
            counted(u64::from(self.vcpus_each), "vCPU"),
            Bytes(self.memory_bytes_each),
            counted(self.vcpus(), "vCPU"),
            counted(self.host_cpus as u64, "CPU"),
            Bytes(self.memory_bytes()),
            in_gib(self.host_memory_bytes),
            in_gib(left)
        )
    }
}

pub fn counted(number: u64, of_what: &str) -> String {
    format!("{number} {of_what}{}", if number == 1 { "" } else { "s" })
}

/// A host's memory is not a round number; people know it in GiB.
pub fn in_gib(bytes: u64) -> String {
    const GIB: f64 = (1_u64 << 30) as f64;
    format!("{:.1} GiB", bytes as f64 / GIB)
}

#[cfg(test)]
mod tests {
    use super::Room;

    #[test]
    fn what_is_left_is_said() {
        let host_memory_bytes = (4 << 30) - (100 << 20);
        let three = Room { machines: 3, vcpus_each: 1, memory_bytes_each: 1 << 30, host_cpus: 2, host_memory_bytes };
        let told =
            "3 machines of 1 vCPU and 1 GiB: 3 vCPUs on 2 CPUs; 3 GiB of 3.9 GiB, which leaves 0.9 GiB to the host";
        assert_eq!(three.to_string(), told);
        let one = Room { machines: 1, vcpus_each: 2, ..three };
        let told =
            "1 machine of 2 vCPUs and 1 GiB: 2 vCPUs on 2 CPUs; 1 GiB of 3.9 GiB, which leaves 2.9 GiB to the host";
        assert_eq!(one.to_string(), told);
    }
}
