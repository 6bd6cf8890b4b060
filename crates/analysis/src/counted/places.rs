//! Which columns hold what people ask for: disks, interfaces, vCPUs, and the shape's share of a system.

use super::unit::CountedUnit;
use super::{Counted, SideCounts};
use record::telemetry::Behaviour;

/// Stands between a probe's name and what it counts of the shape's CPUs alone.
const SHAPE: &str = ".shape.";

/// The layers of a disk: what the kernel of a side counts, and what QEMU does between the guest and the host.
pub const KERNELS: &str = "disk";
pub const QEMU: &str = "qemu_disk";

/// The CPU time of a machine on the host's kernel, all processes together.
const WHOLE: &str = "machine.run";

/// The label, on every side, of the disk that holds the data.
const DATA: &str = "data";

/// What a disk did in the window, as one layer counts it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DiskWork {
    pub reads: f64,
    pub writes: f64,
    pub read_bytes: f64,
    pub write_bytes: f64,
    /// The sum over all requests.
    pub read_ms: f64,
    pub write_ms: f64,
    /// The time with at least one request under way; QEMU does not count it.
    pub busy_ms: Option<f64>,
}

/// The host's thread of one vCPU.
#[derive(Debug, Clone, PartialEq)]
pub struct VcpuTime {
    pub name: String,
    pub run_ms: f64,
    /// The time in which it was ready to run but had no CPU of the host.
    pub wait_ms: f64,
}

impl SideCounts {
    /// Replaces what is counted of the whole system by what is counted of the shape's CPUs. A machine that is part of a
    /// larger system can then be compared with one that is all of it.
    #[must_use]
    pub fn of_shape(mut self) -> Self {
        let of_shape: Vec<String> = self.columns.keys().filter(|name| name.contains(SHAPE)).cloned().collect();
        for name in &of_shape {
            if let Some(counted) = self.columns.remove(name) {
                self.columns.insert(name.replacen(SHAPE, ".", 1), counted);
            }
        }
        // The kernel's own sum of interrupts is over all CPUs.
        if of_shape.iter().any(|name| name.starts_with("interrupts.")) {
            let worth = self.sum_of(0, |name| name.starts_with("interrupts.") && name != "interrupts.total");
            let total = Counted { unit: CountedUnit::Things, behaviour: Behaviour::Counts, worth, rates: Vec::new() };
            self.columns.insert("interrupts.total".to_owned(), total);
        }
        self
    }

    /// The worth of a column over the window; times are in milliseconds.
    pub fn worth(&self, name: &str) -> Option<f64> {
        self.columns.get(name)?.worth
    }

    pub fn per_second(&self, name: &str) -> Option<f64> {
        Some(self.worth(name)? / self.seconds)
    }

    /// A time as a share of the window.
    pub fn share(&self, name: &str) -> Option<f64> {
        self.share_of_window(self.worth(name)?)
    }

    pub fn share_of_window(&self, millis: f64) -> Option<f64> {
        (self.seconds > 0.0).then(|| millis / (self.seconds * 1e3))
    }

    /// The prefix of the columns of the data's disk in a layer: the disk with that label, or the only one.
    pub fn disk_prefix(&self, layer: &str) -> Option<String> {
        let opening = format!("{layer}.");
        let mut labels: Vec<&str> =
            self.columns.keys().filter_map(|name| name.strip_prefix(&opening)?.split('.').next()).collect();
        labels.dedup();
        let label = labels.iter().find(|label| **label == DATA).or(labels.first().filter(|_| labels.len() == 1))?;
        Some(format!("{layer}.{label}"))
    }

    /// The data's disk, as the kernel of this side counts it.
    pub fn disk(&self) -> Option<DiskWork> {
        self.disk_at(KERNELS)
    }

    /// The data's disk, as this layer counts it.
    pub fn disk_at(&self, layer: &str) -> Option<DiskWork> {
        let prefix = self.disk_prefix(layer)?;
        let of = |field: &str| self.worth(&format!("{prefix}.{field}"));
        Some(DiskWork {
            reads: of("reads")?,
            writes: of("writes")?,
            read_bytes: of("read_bytes")?,
            write_bytes: of("write_bytes")?,
            read_ms: of("read_time")?,
            write_ms: of("write_time")?,
            busy_ms: of("busy"),
        })
    }

    /// Packets or bytes of all interfaces but loopback.
    pub fn network(&self, field: &str) -> Option<f64> {
        self.sum_of_several("network.", field, 1)
    }

    /// The sum of a field over the columns with this opening: of all interfaces, nodes, vCPUs. `None` if there are fewer, or
    /// if one has no worth.
    pub(super) fn sum_of_several(&self, opening: &str, field: &str, fewest: usize) -> Option<f64> {
        self.sum_of(fewest, |name| name.starts_with(opening) && name.rsplit('.').next() == Some(field))
    }

    fn sum_of(&self, fewest: usize, is_one: impl Fn(&str) -> bool) -> Option<f64> {
        let own = self.columns.iter().filter(|(name, _)| is_one(name)).map(|(_, counted)| counted.worth);
        let own: Vec<Option<f64>> = own.collect();
        if own.len() < fewest { None } else { own.into_iter().sum() }
    }

    /// Pages that were allocated from the node of the CPU that asked, and from others. `None` if there is only one node, or a count
    /// is missing.
    pub fn node_pages(&self) -> Option<[f64; 2]> {
        let of = |field| self.sum_of_several("numa_allocation.node", field, 2);
        Some([of("by_own_cpus")?, of("by_other_cpus")?])
    }

    /// The same of loads, from the processor's counters.
    pub fn node_loads(&self) -> Option<[f64; 2]> {
        self.node_pages()?;
        let remote = self.worth("perf.node_load_misses")?;
        Some([(self.worth("perf.node_loads")? - remote).max(0.0), remote])
    }

    /// The CPU time of the host that all threads of the machine used: of its processes, or of its vCPUs and its hypervisor.
    pub fn cpu_of_machine_ms(&self) -> Option<f64> {
        let run = |opening: &str, fewest| self.sum_of_several(opening, "run", fewest);
        self.worth(WHOLE).or_else(|| Some(run("vcpu.", 1)? + run("emulator.", 1)? + run("io.", 0)?))
    }

    /// Of all processor packages, whose parts are counted within them.
    pub fn energy_of_packages_uj(&self) -> Option<f64> {
        const PACKAGE: &str = "energy.package-";
        self.sum_of(1, |name| name.strip_prefix(PACKAGE).is_some_and(|rest| !rest.contains('_')))
    }

    /// The threads of all vCPUs for which both times are known.
    pub fn vcpus(&self) -> Vec<VcpuTime> {
        let waits = self.columns.keys().filter_map(|name| name.strip_prefix("vcpu.")?.strip_suffix(".wait"));
        let of_vcpu = |number: &str| {
            let time = |field: &str| self.worth(&format!("vcpu.{number}.{field}"));
            Some(VcpuTime { name: number.to_owned(), run_ms: time("run")?, wait_ms: time("wait")? })
        };
        waits.filter_map(of_vcpu).collect()
    }

    /// The time of all CPUs: the total, what was neither idle nor waiting, and what was stolen.
    pub fn cpu(&self) -> Option<CpuWork> {
        let of = |kind: &str| self.worth(&format!("cpu.{kind}"));
        let [user, nice, system, idle] = [of("user")?, of("nice")?, of("system")?, of("idle")?];
        let [iowait, irq, softirq, stolen_ms] =
            ["iowait", "irq", "softirq", "steal"].map(|kind| of(kind).unwrap_or(0.0));
        let busy_ms = user + nice + system + irq + softirq + stolen_ms;
        Some(CpuWork { all_ms: busy_ms + idle + iowait, busy_ms, waiting_ms: iowait, stolen_ms })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuWork {
    pub all_ms: f64,
    pub busy_ms: f64,
    /// Idle, with work that waits for a disk.
    pub waiting_ms: f64,
    /// Included in `busy_ms`.
    pub stolen_ms: f64,
}

impl DiskWork {
    pub fn operations(&self) -> f64 {
        self.reads + self.writes
    }

    pub fn bytes(&self) -> f64 {
        self.read_bytes + self.write_bytes
    }

    /// Mean time of a read; `None` if there was none.
    pub fn ms_of_a_read(&self) -> Option<f64> {
        (self.reads > 0.0).then(|| self.read_ms / self.reads)
    }

    pub fn ms_of_a_write(&self) -> Option<f64> {
        (self.writes > 0.0).then(|| self.write_ms / self.writes)
    }

    pub fn ms_of_an_operation(&self) -> Option<f64> {
        (self.operations() > 0.0).then(|| (self.read_ms + self.write_ms) / self.operations())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Counted;
    use super::*;

    fn side(columns: &[(&str, f64)]) -> SideCounts {
        let counted = |worth| Counted {
            unit: CountedUnit::Things,
            behaviour: Behaviour::Counts,
            worth: Some(worth),
            rates: Vec::new(),
        };
        let columns = columns.iter().map(|&(name, worth)| (name.to_owned(), counted(worth)));
        SideCounts { seconds: 10.0, samples: 10, columns: columns.collect(), unavailable: [].into() }
    }

    #[test]
    fn what_is_counted_of_the_shape_takes_the_place_of_the_whole() {
        let side = side(&[
            ("cpu.user", 900.0),
            ("cpu.shape.user", 90.0),
            ("interrupts.total", 5_000.0),
            ("interrupts.timer", 4_000.0),
            ("interrupts.shape.timer", 400.0),
            ("interrupts.shape.device", 20.0),
            ("switches.context", 7.0),
        ]);
        let side = side.of_shape();
        let found =
            ["cpu.user", "interrupts.timer", "interrupts.total", "switches.context"].map(|name| side.worth(name));
        assert_eq!(found, [Some(90.0), Some(400.0), Some(420.0), Some(7.0)]);
        assert!(!side.columns.keys().any(|name| name.contains("shape")));
    }

    #[test]
    fn the_disk_of_the_data_is_the_one_called_so_or_the_only_one() {
        let fields = ["reads", "writes", "read_bytes", "write_bytes", "read_time", "write_time"];
        let disks = |labels: &[&str]| -> SideCounts {
            let name = |label: &&str| fields.map(|field| format!("disk.{label}.{field}"));
            let names: Vec<String> = labels.iter().flat_map(name).collect();
            let columns: Vec<(&str, f64)> =
                names.iter().map(|name| (name.as_str(), if name.contains("data") { 8.0 } else { 3.0 })).collect();
            side(&columns)
        };
        assert_eq!(disks(&["boot", "data"]).disk().map(|disk| disk.operations()), Some(16.0));
        assert_eq!(disks(&["sda"]).disk().and_then(|disk| disk.ms_of_a_write()), Some(1.0));
        assert_eq!(disks(&["sda", "sdb"]).disk(), None);
        assert_eq!(disks(&[]).disk(), None);
    }

    #[test]
    fn interfaces_are_added_up_and_vcpus_are_not() {
        let side = side(&[
            ("network.eth0.received_packets", 1.0),
            ("network.eth1.received_packets", 2.0),
            ("network.eth0.received_bytes", 3.0),
            ("vcpu.0.run", 6.0),
            ("vcpu.0.wait", 7.0),
            ("vcpu.1.wait", 8.0),
        ]);
        assert_eq!(side.network("received_packets"), Some(3.0));
        assert_eq!(side.vcpus(), [VcpuTime { name: "0".to_owned(), run_ms: 6.0, wait_ms: 7.0 }]);
    }
}
