//! What the host was doing around one measured window, as far as it can be read: at its beginning and at its end.
//!
//! `host.json` describes a host once. This records, trial by trial, what may change in between and make one trial
//! slower than another: clocks, other load, stolen time, a shortage of memory. Counters are kept as they were read;
//! analysis turns them into shares.

use crate::ladder::CpuTime;
use crate::looks::Reading;
use serde::{Deserialize, Serialize};

/// Two readings, at the ends of the measured window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostState {
    pub start: HostReading,
    pub end: HostReading,
}

/// One reading of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostReading {
    /// The host's monotonic clock.
    pub at_ns: u64,
    /// The governor, which chooses the frequency of the CPUs.
    pub governor: Reading<String>,
    pub turbo: Reading<String>,
    /// The kernel's mitigations of weaknesses of the processor.
    pub mitigations: Reading<String>,
    /// Mean over the CPUs at this moment.
    pub frequency_khz: Reading<u64>,
    /// Of all CPUs of the host since boot.
    pub cpu: Reading<CpuTime>,
    pub processes: Reading<ProcessTimes>,
    pub memory: Reading<HostMemory>,
    pub stalls: Reading<PressureStalls>,
}

/// CPU time of all existing processes and of their ended children, in the kernel's ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessTimes {
    /// Ours: `bakeoff` and everything that it started, machines included.
    pub ours_ticks: u64,
    /// Everybody else's.
    pub others_ticks: u64,
    /// The kernel's own threads, which work for both.
    pub kernel_ticks: u64,
    /// Bytes that all other processes read from disks and wrote to them, as far as they show it: to a user who is not root, only
    /// the user's do. `None` if none shows it, and in records of old versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_disk_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostMemory {
    pub available_bytes: u64,
    /// Pages read back from swap and written to it, since boot.
    pub swapped_in_pages: u64,
    pub swapped_out_pages: u64,
}

/// Time since boot in which at least one task had to wait for a resource (the kernel's pressure figures).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PressureStalls {
    pub cpu_us: u64,
    pub memory_us: u64,
    pub io_us: u64,
}

/// The kernel may sample one of two sums and measure the other; they differ by less than this share of all CPU time.
const SAMPLING_ERROR: f64 = 0.05;

impl HostState {
    /// Nanoseconds between the readings.
    pub fn span_ns(&self) -> u64 {
        self.end.at_ns.saturating_sub(self.start.at_ns)
    }

    /// The share of the host's CPU time between the readings that went to processes that are not ours, and to those that nobody
    /// is charged with: they ended, and their parents did not ask for it. It leaves out the kernel's own threads and interrupts,
    /// which are of both, and what a hypervisor below the host takes.
    pub fn others(&self) -> Reading<f64> {
        self.others_share().into()
    }

    fn others_share(&self) -> Result<f64, String> {
        let cpu = both(&self.start.cpu, &self.end.cpu, "the time of CPUs")?;
        let processes = both(&self.start.processes, &self.end.processes, "the time of processes")?;
        let all = cpu.1.all_ticks().saturating_sub(cpu.0.all_ticks());
        if all == 0 {
            return Err("no CPU time passed between the readings of the host".to_owned());
        }
        let passed = |of: fn(&ProcessTimes) -> u64| of(&processes.1).saturating_sub(of(&processes.0));
        let (ours, others, kernel) = (passed(|t| t.ours_ticks), passed(|t| t.others_ticks), passed(|t| t.kernel_ticks));
        let charged = ours + others + kernel;
        let unseen = charged_to_processes(&cpu.0).zip(charged_to_processes(&cpu.1));
        let unseen = unseen.map_or(0, |(start, end)| end.saturating_sub(start).saturating_sub(charged));
        let unseen = if unseen as f64 > SAMPLING_ERROR * all as f64 { unseen } else { 0 };
        Ok((others + unseen) as f64 / all as f64)
    }
}

/// What CPUs did for processes; `None` in records that do not say how much interrupts took.
fn charged_to_processes(cpu: &CpuTime) -> Option<u64> {
    Some(cpu.busy_ticks.saturating_sub(cpu.stolen_ticks).saturating_sub(cpu.interrupt_ticks?))
}

fn both<T: Copy>(start: &Reading<T>, end: &Reading<T>, what: &str) -> Result<(T, T), String> {
    let known = |reading: &Reading<T>| match reading {
        Reading::Known(value) => Ok(*value),
        Reading::Unavailable(why) => Err(format!("{what} is unavailable, because {why}")),
    };
    Ok((known(start)?, known(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at_ns: u64) -> HostReading {
        let unread = || "this kernel does not say".to_owned();
        HostReading {
            at_ns,
            governor: Reading::Unavailable(unread()),
            turbo: Reading::Known("on".to_owned()),
            mitigations: Reading::Known("none".to_owned()),
            frequency_khz: Reading::Known(2_596_122),
            cpu: Reading::Known(CpuTime { busy_ticks: 1, idle_ticks: 2, ..CpuTime::default() }),
            processes: Reading::Known(ProcessTimes { ours_ticks: 3, ..ProcessTimes::default() }),
            memory: Reading::Known(HostMemory { available_bytes: 4, ..HostMemory::default() }),
            stalls: Reading::Unavailable(unread()),
        }
    }

    #[test]
    fn a_reading_is_read_back_as_it_was_written() {
        let state = HostState { start: reading(1_000), end: reading(5_000) };
        let text = serde_json::to_string(&state).unwrap();
        assert!(text.contains(r#""governor":{"unavailable":"this kernel does not say"}"#), "{text}");
        let again: HostState = serde_json::from_str(&text).unwrap();
        assert_eq!((again.span_ns(), &again), (4_000, &state));
    }

    #[test]
    fn what_others_had_is_a_share_of_all_cpus_or_unknown() {
        let after = |others_ticks, idle_ticks| HostReading {
            cpu: Reading::Known(CpuTime {
                busy_ticks: 701,
                idle_ticks,
                waiting_ticks: 100,
                stolen_ticks: 50,
                interrupt_ticks: None,
            }),
            processes: Reading::Known(ProcessTimes {
                ours_ticks: 403,
                others_ticks,
                kernel_ticks: 90,
                others_disk_bytes: None,
            }),
            ..reading(9)
        };
        let others = |end: HostReading| HostState { start: reading(1), end }.others();
        assert_eq!(others(after(250, 202)), Reading::Known(0.25), "250 of 700 + 200 + 100 ticks");
        assert_eq!(others(after(0, 202)), Reading::Known(0.0));
        // 700 were busy: 50 stolen, 40 of interrupts, 490 of ours and of the kernel's threads, and 90 of nobody.
        let with_interrupts = |others_ticks, of_interrupts: u64| {
            let reading = |reading: HostReading, interrupt_ticks| {
                let cpu = CpuTime { interrupt_ticks: Some(interrupt_ticks), ..*reading.cpu.known().unwrap() };
                HostReading { cpu: Reading::Known(cpu), ..reading }
            };
            let end = reading(after(others_ticks, 202), of_interrupts);
            HostState { start: reading(self::reading(1), 0), end }.others()
        };
        assert_eq!(with_interrupts(30, 40), Reading::Known(0.12), "30 of others and 90 unseen");
        assert_eq!(with_interrupts(30, 80), Reading::Known(0.03), "50 of 1000 may be a matter of sampling");
        assert_eq!(with_interrupts(30, 999), Reading::Known(0.03));
        assert_eq!(others(reading(1)).why_not(), Some("no CPU time passed between the readings of the host"));
        let hidden = HostReading { processes: Reading::Unavailable("/proc is hidden".to_owned()), ..after(9, 202) };
        let why = "the time of processes is unavailable, because /proc is hidden";
        assert_eq!(others(hidden).why_not(), Some(why));
    }
}
