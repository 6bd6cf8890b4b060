//! Why the kernel refuses an event, and what would help, by the error that it returns.

use rustix::io::Errno;
use std::io;

const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// The permission that a count needs from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// To count what others do on these CPUs, too.
    AllOfCpus,
    /// To count what our own threads do, also in kernel mode.
    OwnThreads,
}

impl Needs {
    /// If the kernel's level is above this, only a privileged user may count.
    fn most_paranoid(self) -> i64 {
        match self {
            Self::AllOfCpus => 0,
            Self::OwnThreads => 1,
        }
    }
}

/// The kernel's `perf_event_paranoid`; `None` if it was built without perf events.
pub fn paranoid() -> Option<i64> {
    std::fs::read_to_string(PARANOID).ok()?.trim().parse().ok()
}

pub fn why(error: &io::Error, needs: Needs, paranoid: Option<i64>) -> String {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::ACCESS | Errno::PERM) => forbidden(needs.most_paranoid(), paranoid),
        Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV) => "this processor offers no such event here".to_owned(),
        Some(Errno::MFILE | Errno::NFILE) => {
            "there are too many open files; a higher limit (ulimit -n) would help".to_owned()
        }
        Some(Errno::NOSYS) => "the kernel was built without perf events".to_owned(),
        Some(Errno::BUSY) => {
            "another program has reserved the processor's counters; the kernel's watchdog takes one, too".to_owned()
        }
        Some(Errno::INVAL) => "this kernel cannot count it so; some do not distinguish guest and host".to_owned(),
        Some(Errno::SRCH) => "the thread has ended".to_owned(),
        _ => format!("the kernel refuses it: {error}"),
    }
}

fn forbidden(most: i64, paranoid: Option<i64>) -> String {
    match paranoid {
        Some(level) if level > most => {
            format!("{PARANOID} is {level}; {most} or less there would help, or the capability CAP_PERFMON")
        }
        Some(level) => {
            format!("it is forbidden although {PARANOID} is {level}, as a container's filter of system calls does")
        }
        None => "the kernel was built without perf events".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(errno: Errno, needs: Needs, paranoid: Option<i64>) -> String {
        why(&errno.into(), needs, paranoid)
    }

    #[test]
    fn a_cautious_kernel_is_named_with_what_would_help() {
        let expected =
            "/proc/sys/kernel/perf_event_paranoid is 2; 0 or less there would help, or the capability CAP_PERFMON";
        assert_eq!(of(Errno::ACCESS, Needs::AllOfCpus, Some(2)), expected);
        assert!(of(Errno::ACCESS, Needs::OwnThreads, Some(2)).contains("is 2; 1 or less"));
        assert!(of(Errno::PERM, Needs::OwnThreads, Some(-1)).contains("although"));
        assert!(of(Errno::ACCESS, Needs::AllOfCpus, Some(1)).contains("is 1; 0 or less"));
        assert!(of(Errno::ACCESS, Needs::OwnThreads, Some(1)).contains("although"));
    }

    #[test]
    fn what_a_processor_lacks_is_not_called_forbidden() {
        for errno in [Errno::NOENT, Errno::OPNOTSUPP, Errno::NODEV] {
            assert_eq!(of(errno, Needs::AllOfCpus, Some(2)), "this processor offers no such event here");
        }
        assert!(of(Errno::MFILE, Needs::AllOfCpus, Some(2)).contains("ulimit -n"));
        assert!(of(Errno::BUSY, Needs::AllOfCpus, Some(2)).contains("watchdog"));
        assert!(of(Errno::SRCH, Needs::OwnThreads, Some(2)).contains("ended"));
        assert!(of(Errno::INVAL, Needs::OwnThreads, Some(2)).contains("distinguish guest and host"));
        assert!(of(Errno::IO, Needs::AllOfCpus, Some(2)).starts_with("the kernel refuses it: "));
    }
}
