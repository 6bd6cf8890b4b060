//! Hosts that one trial at a time may have load from, while several trials go on.

use crate::conversation::AskError;
use crate::halt::Halt;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a trial that waits looks whether the user wants it to stop.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub struct HostsInUse {
    taken: Mutex<BTreeSet<String>>,
    released: Condvar,
}

/// These hosts are one trial's alone, as long as it lives.
pub struct Use<'a> {
    hosts: Vec<String>,
    of: &'a HostsInUse,
}

impl HostsInUse {
    /// Waits until none of these hosts drives for another trial, and takes all of them at once.
    pub fn take(&self, hosts: Vec<String>, halt: Halt<'_>) -> Result<Use<'_>, AskError> {
        let mut taken = self.taken();
        while hosts.iter().any(|host| taken.contains(host)) {
            if halt.now() {
                return Err(AskError::halted(halt));
            }
            taken = self.released.wait_timeout(taken, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        taken.extend(hosts.iter().cloned());
        Ok(Use { hosts, of: self })
    }

    fn taken(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        for host in &self.hosts {
            taken.remove(host);
        }
        self.of.released.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machines::interrupts::Interrupts;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_host_drives_for_one_trial_at_a_time_and_a_wait_can_be_given_up() {
        let (in_use, interrupts) = (HostsInUse::default(), Interrupts::default());
        let halt = Halt::by_user(&interrupts);
        let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (now, most) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for names in [["a", "b"], ["b", "c"], ["c", "b"], ["b", "a"]] {
                let (in_use, now, most) = (&in_use, &now, &most);
                scope.spawn(move || {
                    for _ in 0..100 {
                        let own = in_use.take(hosts(&names), halt).unwrap();
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        now.fetch_sub(1, Ordering::SeqCst);
                        drop(own);
                    }
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 1, "all of them need b");
        let first = in_use.take(hosts(&["a"]), halt).unwrap();
        drop(in_use.take(hosts(&["c"]), halt).unwrap());
        interrupts.raise();
        interrupts.raise();
        assert!(matches!(in_use.take(hosts(&["a", "c"]), halt), Err(AskError::Interrupted)));
        drop(first);
        in_use.take(hosts(&["a", "c"]), halt).unwrap();
    }
}
