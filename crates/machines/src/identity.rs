//! Identifies a process by its id and its start time, because ids are used again.

use crate::ready::becomes_ready;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::io;
use std::time::Duration;
use telemetry::process_stat;

/// The kernel ends a killed process within this, unless it hangs in a device.
pub(crate) const KILL_LIMIT: Duration = Duration::from_secs(10);

/// Identifies a process: no later one has both the same id and start time until the host boots again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    pub pid: u32,
    /// In the kernel's ticks since boot.
    pub start_ticks: u64,
}

impl Identity {
    /// The process that has this id now.
    pub fn of(pid: u32) -> io::Result<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let parsed = process_stat(&stat).ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat reads {stat:?}")))?;
        Ok(Self { pid, start_ticks: parsed.start_ticks })
    }

    /// Whether this very process still exists, if only as a zombie.
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).is_ok_and(|now| now == *self)
    }

    /// Kills this very process and returns whether it existed. No other process can be hit: the descriptor is opened
    /// first and stays that of the process whose start time is then compared.
    pub fn kill(&self) -> io::Result<bool> {
        let Some(pid) = as_pid(self.pid) else { return Ok(false) };
        let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(rustix::io::Errno::SRCH) => return Ok(false),
            other => other?,
        };
        if !self.is_alive() {
            return Ok(false);
        }
        match pidfd_send_signal(&descriptor, Signal::KILL) {
            Err(rustix::io::Errno::SRCH) => Ok(false),
            other => {
                other?;
                // Only our own children leave a status to be waited for. Others are gone once the descriptor is ready.
                becomes_ready(&descriptor, KILL_LIMIT)?;
                Ok(true)
            }
        }
    }
}

/// The kernel's id of this boot. Start times of processes count from the boot.
pub fn boot_id() -> io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim_end().to_owned())
}

pub(crate) fn as_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

#[cfg(test)]
mod tests {
    use super::Identity;
    use crate::process::{Launch, Process};
    use std::time::Duration;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn only_the_process_with_the_same_start_time_is_killed() {
        let mut process = Process::start(Launch::new(&["sleep", "1000"])).unwrap();
        let identity = process.identity();
        let another = Identity { start_ticks: identity.start_ticks + 1, ..identity };
        assert!(!another.kill().unwrap());
        assert!(process.wait(Duration::ZERO).unwrap().is_none());
        assert!(identity.kill().unwrap());
        assert!(process.wait(LONG).unwrap().is_some());
    }
}
