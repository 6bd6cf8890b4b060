//! Memory at this moment: free, cached, waiting to be written, in huge pages, returned to a hypervisor (`/proc/meminfo`).

use super::fields::Field;

pub const FIELDS: &[Field] = &[
    Field::stands("MemTotal", "total", "bytes"),
    Field::stands("MemFree", "free", "bytes"),
    Field::stands("MemAvailable", "available", "bytes"),
    Field::stands("Cached", "cached", "bytes"),
    Field::stands("Dirty", "dirty", "bytes"),
    Field::stands("Writeback", "writeback", "bytes"),
    Field::stands("AnonPages", "anonymous", "bytes"),
    Field::stands("Slab", "slab", "bytes"),
    Field::stands("PageTables", "page_tables", "bytes"),
    Field::stands("SwapFree", "swap_free", "bytes"),
    Field::stands("AnonHugePages", "anonymous_huge", "bytes"),
    Field::stands("ShmemHugePages", "shared_huge", "bytes"),
    Field::stands("FileHugePages", "file_huge", "bytes"),
    Field::stands("HugePages_Total", "huge_pages", "pages"),
    Field::stands("HugePages_Free", "huge_pages_free", "pages"),
    // The amount that a guest has returned to its hypervisor; older kernels do not report it.
    Field::stands("Balloon", "balloon", "bytes"),
];

#[cfg(test)]
mod tests {
    use super::super::fields;
    use super::*;
    use crate::counter::Counter;

    #[test]
    fn sizes_are_bytes_and_pages_are_pages() {
        let new = "MemTotal:       24684084 kB\nMemFree:        10137700 kB\nMemAvailable:   22940760 kB\n\
                   Dirty:            211212 kB\nAnonHugePages:      2048 kB\nBalloon:               0 kB\nHugePages_Total:       7\n";
        let found = fields::counters(new, "memory", FIELDS);
        assert_eq!(found.len(), 7);
        assert_eq!(found[2], Counter::stands("memory.available", "bytes", 22_940_760 * 1_024));
        assert!(found.contains(&Counter::stands("memory.huge_pages", "pages", 7)));
    }

    #[test]
    fn a_kernel_before_3_14_does_not_say_what_is_available() {
        let old = "MemTotal:        2051816 kB\nMemFree:          122624 kB\nBuffers:           10204 kB\n";
        let names: Vec<String> =
            fields::counters(old, "memory", FIELDS).into_iter().map(|counter| counter.name).collect();
        assert_eq!(names, ["memory.total", "memory.free"]);
    }
}
