//! The keys of a native machine: none yet. All other platforms are compared with it.

use serde::Deserialize;
use settings::Key;

pub const KEYS: &[Key] = &[];

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct NativeSettings {}

#[cfg(test)]
mod tests {
    use super::NativeSettings;
    use crate::entry::PlatformSettings;
    use crate::huge_pages::HugePages;
    use crate::order::MachineRequest;
    use crate::placement::{Policy, UsableCpus, place};
    use images::KernelChoice;
    use std::fs;

    /// A user who starts bakeoff on isolated CPUs by `taskset` is one who wants the best for the guest.
    #[test]
    fn threads_need_cpus_over_which_the_kernel_moves_them() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/devices/system/cpu");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("online"), "0-3\n").unwrap();
        fs::write(folder.join("isolated"), "2-3\n").unwrap();
        let found = |allowed: &[usize], vcpus: u32| {
            let topology = UsableCpus::read(root.path()).unwrap().only(allowed);
            let request = MachineRequest {
                count: 1,
                vcpus,
                memory_bytes: 1 << 30,
                kernel: &KernelChoice::DEBIAN_12,
                is_reached_from_outside: false,
                places: &place(&topology, &Policy::Cores, 1, vcpus, 0).unwrap(),
                huge_pages: &HugePages::default(),
                isolated: topology.isolated(),
            };
            NativeSettings {}.check(&request).into_iter().map(|problem| problem.found).collect::<Vec<_>>()
        };
        assert_eq!(found(&[2, 3], 2), ["found a machine on CPUs 2-3, over which the kernel moves no thread"]);
        assert_eq!(found(&[2, 3], 1), Vec::<String>::new(), "one thread needs no moving");
        assert_eq!(found(&[0, 1], 2), Vec::<String>::new());
    }
}
