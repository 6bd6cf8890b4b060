//! Processes of our machines that another program started for us, such as libvirt. No list of our descendants has them.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

static ADOPTED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A process that counts as ours until this is dropped.
#[derive(Debug)]
pub struct Adopted(u32);

impl Adopted {
    pub fn new(process: u32) -> Self {
        list().insert(process);
        Self(process)
    }
}

impl Drop for Adopted {
    fn drop(&mut self) {
        list().remove(&self.0);
    }
}

pub fn all() -> Vec<u32> {
    list().iter().copied().collect()
}

fn list() -> MutexGuard<'static, BTreeSet<u32>> {
    ADOPTED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_ours_until_its_machine_is_gone() {
        let (first, second) = (Adopted::new(4_000_001), Adopted::new(4_000_002));
        drop(first);
        assert_eq!(all(), [4_000_002]);
        drop(second);
        assert!(all().is_empty());
    }
}
