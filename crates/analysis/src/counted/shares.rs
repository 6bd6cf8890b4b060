//! What one machine was kept from, as shares: throttled, waiting for a CPU, stolen; and how long its disk took.
//!
//! All are of one machine. For several machines they would be sums of shares, which mean nothing.

use super::{CountedTrial, SideCounts};
use record::telemetry::Side;

/// A mean over fewer operations is mostly chance.
pub const FEWEST_OPERATIONS: f64 = 10.0;

/// The host's name for a native machine as a whole.
const WHOLE: &str = "machine";

impl CountedTrial {
    /// The longest that any group of either side was throttled, as a share of the window.
    pub fn throttled_share(&self) -> Option<f64> {
        let sides = [Side::Host, Side::Machine].into_iter().filter_map(|side| self.side(side));
        let shares = sides.flat_map(|counts| {
            let times =
                counts.columns.keys().filter(|name| name.starts_with("cgroup.") && name.ends_with(".throttled_time"));
            times.filter_map(|name| counts.share(name)).collect::<Vec<_>>()
        });
        shares.max_by(f64::total_cmp)
    }

    /// The share of the time in which its vCPUs or processes wanted to run but had no CPU of the host.
    pub fn waited_of_wanted(&self) -> Option<f64> {
        let host = self.side(Side::Host)?;
        let vcpus = host.vcpus();
        let (run_ms, wait_ms) = if vcpus.is_empty() {
            (host.worth(&format!("{WHOLE}.run"))?, host.worth(&format!("{WHOLE}.wait"))?)
        } else {
            (vcpus.iter().map(|vcpu| vcpu.run_ms).sum(), vcpus.iter().map(|vcpu| vcpu.wait_ms).sum())
        };
        let wanted_ms = run_ms + wait_ms;
        (wanted_ms > 0.0).then(|| wait_ms / wanted_ms)
    }

    /// The stolen share of its CPUs' time, as the machine itself counts it.
    pub fn stolen_share(&self) -> Option<f64> {
        let cpu = self.side(Side::Machine)?.cpu()?;
        (cpu.all_ms > 0.0).then(|| cpu.stolen_ms / cpu.all_ms)
    }

    /// Mean time of an operation of its disk, as the machine itself sees it.
    pub fn ms_of_an_operation(&self) -> Option<f64> {
        let disk = self.side(Side::Machine)?.disk()?;
        disk.ms_of_an_operation().filter(|_| disk.operations() >= FEWEST_OPERATIONS)
    }

    /// How often vCPUs moved to another CPU of the host in a second, all together.
    pub fn migrations_per_second(&self) -> Option<f64> {
        let host = self.side(Side::Host)?;
        Some(host.sum_of_several("vcpu.", "migrations", 1)? / host.seconds)
    }

    /// Exits to the hypervisor per transaction.
    pub fn exits_each(&self) -> Option<f64> {
        Some(self.side(Side::Host)?.worth("kvm.vcpu.exits")? / self.transactions)
    }

    /// Interrupts per transaction.
    pub fn interrupts_each(&self) -> Option<f64> {
        let interrupts = self.side(Side::Machine).and_then(|machine: &SideCounts| machine.worth("interrupts.total"))?;
        Some(interrupts / self.transactions)
    }
}
