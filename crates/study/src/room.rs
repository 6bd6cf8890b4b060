//! What machines side by side need from the host, what they leave, and where they run.

use crate::host::Host;
use crate::kind_and_table;
use crate::shape::machine;
use platforms::capabilities::DataHome;
use platforms::placement::{self, Place};
use record::plan::Cell;
use serde_json::Value;
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
pub fn other_host(cell: &Cell) -> Option<String> {
    let (kind, table) = kind_and_table(cell, "platform")?;
    let is_elsewhere = (platforms::catalog::entry(kind)?.can)(&table).data == DataHome::Elsewhere;
    is_elsewhere.then(|| table.get("host").and_then(Value::as_str).unwrap_or(kind).to_owned())
}

/// The room of a cell; `None` for an undecided cell, and on another host.
pub fn room(cell: &Cell, host: &Host) -> Option<Room> {
    if other_host(cell).is_some() {
        return None;
    }
    let machine = machine(cell).ok()?;
    Some(Room {
        machines: machine.count,
        vcpus_each: machine.vcpus,
        memory_bytes_each: machine.memory_bytes.0,
        host_cpus: host.cpus(),
        host_memory_bytes: host.memory_bytes,
    })
}

/// Where the machines of a cell will run if nothing changes until then; `None` for an undecided cell, and on another host.
pub fn places(cell: &Cell, host: &Host) -> Option<Vec<Place>> {
    if other_host(cell).is_some() {
        return None;
    }
    let machine = machine(cell).ok()?;
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
