//! How the number of clients with the most throughput was found: the steps of the climb, and what followed from them.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    /// In the order in which they were measured.
    pub rungs: Vec<Rung>,
    /// The number of clients with which the trial's figures were then measured afresh.
    pub chosen: u32,
    /// The smallest number of clients that cannot be distinguished from the best.
    pub smallest_tied: u32,
    pub ended: ClimbEnd,
    /// No step had more clients than this.
    pub largest_allowed: u32,
    /// The resource that ran out at the peak, as far as could be seen.
    pub saturated: String,
}

/// One step of the climb: a number of clients, driven for a warm-up and a measured window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rung {
    pub clients: u32,
    /// Counted transactions per second.
    pub per_second: f64,
    /// Standard error of that rate, from the seconds of the window.
    pub standard_error: f64,
    /// Share of transactions that failed for good.
    pub failed_share: f64,
    pub p99_us: u64,
    /// Use of the machine's CPUs in the measured window, by the load engine as well if it runs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuUse>,
    pub busiest_shard: f64,
}

/// Shares of the time of all CPUs available to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CpuUse {
    /// Neither idle nor waiting.
    pub busy: f64,
    /// Idle while something waited for storage.
    pub waiting: f64,
    /// Taken by the hypervisor for others; included in busy.
    pub stolen: f64,
}

impl CpuTime {
    pub fn all_ticks(&self) -> u64 {
        self.busy_ticks + self.idle_ticks + self.waiting_ticks
    }
}

impl CpuUse {
    /// The CPU use between two readings; `None` if no time passed.
    pub fn between(before: CpuTime, after: CpuTime) -> Option<Self> {
        let passed = |of: fn(&CpuTime) -> u64| of(&after).saturating_sub(of(&before)) as f64;
        let (busy, waiting) = (passed(|time| time.busy_ticks), passed(|time| time.waiting_ticks));
        let all = busy + waiting + passed(|time| time.idle_ticks);
        let stolen = passed(|time| time.stolen_ticks);
        (all > 0.0).then(|| Self { busy: busy / all, waiting: waiting / all, stolen: stolen / all })
    }
}

/// The kernel's counts for the CPUs available to a machine, in its ticks, since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuTime {
    /// Neither idle nor waiting.
    pub busy_ticks: u64,
    pub idle_ticks: u64,
    /// Idle while something waited for storage.
    pub waiting_ticks: u64,
    /// Taken by the hypervisor for others; included in busy.
    pub stolen_ticks: u64,
    /// Of interrupts, which no process is charged with; included in busy. Absent from records of old versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_ticks: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClimbEnd {
    /// Throughput fell with more clients.
    Declined,
    /// Throughput did not rise with more clients.
    Levelled,
    /// Throughput still rose at the largest number allowed.
    LargestReached,
    /// Too many transactions failed.
    Errors,
    /// Responses became too long.
    Slow,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_between_two_readings() {
        let before = CpuTime {
            busy_ticks: 1_000,
            idle_ticks: 5_000,
            waiting_ticks: 100,
            stolen_ticks: 10,
            interrupt_ticks: None,
        };
        let after = CpuTime {
            busy_ticks: 1_060,
            idle_ticks: 5_030,
            waiting_ticks: 110,
            stolen_ticks: 15,
            interrupt_ticks: None,
        };
        let share = CpuUse::between(before, after).unwrap();
        assert!((share.busy - 0.6).abs() < 1e-12 && (share.waiting - 0.1).abs() < 1e-12);
        assert!((share.stolen - 0.05).abs() < 1e-12);
        assert_eq!(CpuUse::between(after, after), None);
    }
}
