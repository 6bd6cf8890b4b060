//! Sets of host CPUs: as words for `taskset`, and as the kernel reports them for a thread.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// CPUs in the form that `taskset` takes, each once, in order.
pub fn list(cpus: &[usize]) -> String {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The CPUs that a thread may use, according to the kernel.
pub fn of_thread(thread: u32) -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(Some(as_pid(thread)?))?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// Pins a thread to one CPU; returns the CPUs that the kernel reports afterwards.
pub fn pin(thread: u32, cpu: usize) -> io::Result<Vec<usize>> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("there is no CPU {cpu}")));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(Some(as_pid(thread)?), &set)?;
    of_thread(thread)
}

fn as_pid(thread: u32) -> io::Result<Pid> {
    let id = i32::try_from(thread).ok().and_then(Pid::from_raw);
    id.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, format!("{thread} is no thread's id")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_list_names_each_cpu_once() {
        assert_eq!(super::list(&[3, 0, 3, 1]), "0,1,3");
    }

    #[test]
    fn a_pinned_thread_reads_back_its_cpu() {
        let thread = std::thread::spawn(|| {
            let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            let first = super::of_thread(own).unwrap()[0];
            assert_eq!(super::pin(own, first).unwrap(), [first]);
            assert!(super::pin(own, usize::MAX).is_err());
        });
        thread.join().unwrap();
    }
}
