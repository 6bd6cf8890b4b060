//! The pages that a process has actually mapped, by size (`/proc/PID/smaps_rollup`).
//!
//! To report them, the kernel walks the process's page tables. That takes milliseconds per gigabyte and holds a lock
//! that page faults need. So they are read when sampling begins and ends, not every second.

use super::Opening;
use super::fields::{self, Field};
use crate::targets::ProcessTarget;

const FIELDS: &[Field] = &[
    Field::stands("Rss", "resident", "bytes"),
    Field::stands("Pss", "proportional", "bytes"),
    Field::stands("Anonymous", "anonymous", "bytes"),
    Field::stands("AnonHugePages", "anonymous_huge", "bytes"),
    Field::stands("ShmemPmdMapped", "shared_huge", "bytes"),
    Field::stands("FilePmdMapped", "file_huge", "bytes"),
    Field::stands("Shared_Hugetlb", "shared_reserved_huge", "bytes"),
    Field::stands("Private_Hugetlb", "private_reserved_huge", "bytes"),
    Field::stands("KSM", "merged", "bytes"),
    Field::stands("Swap", "swapped", "bytes"),
];

pub fn opening(target: &ProcessTarget) -> Opening {
    let name = format!("pages.{}", target.label);
    let path = format!("/proc/{}/smaps_rollup", target.process);
    let (prefix, source) = (name.clone(), path.clone());
    let remedy = "the process must run and be ours; kernels have this file since 4.14";
    let read = move |files: &mut crate::files::Files| Ok(fields::counters(&files.text(&path)?, &prefix, FIELDS));
    Opening { is_costly: true, ..Opening::new(name, source, remedy, read) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::Counter;

    #[test]
    fn pages_of_one_process() {
        let text = "563473ec7000-7fff17774000 ---p 00000000 00:00 0                          [rollup]\n\
                    Rss:                1768 kB\nPss:                 241 kB\nPss_Dirty:           112 kB\n\
                    Anonymous:           112 kB\nKSM:                   0 kB\nAnonHugePages:      2048 kB\n";
        let found = fields::counters(text, "pages.machine", FIELDS);
        assert_eq!(found[0], Counter::stands("pages.machine.resident", "bytes", 1_768 * 1_024));
        assert_eq!(found[3], Counter::stands("pages.machine.anonymous_huge", "bytes", 2 << 20));
        assert_eq!(found.len(), 5);
    }
}
