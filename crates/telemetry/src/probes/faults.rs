//! Events of pages since boot: faults, swapping, reclaim, the balloon, moves between nodes (`/proc/vmstat`).

use super::fields::Field;

pub const FIELDS: &[Field] = &[
    // All faults, including those that needed a device.
    Field::counts("pgfault", "all", ""),
    Field::counts("pgmajfault", "major", ""),
    Field::counts("pswpin", "swapped_in", "pages"),
    Field::counts("pswpout", "swapped_out", "pages"),
    Field::counts("pgsteal_direct", "reclaimed_directly", "pages"),
    Field::counts("pgsteal_kswapd", "reclaimed", "pages"),
    Field::counts("compact_stall", "compaction_stalls", ""),
    Field::counts("oom_kill", "killed_for_memory", "tasks"),
    Field::counts("balloon_inflate", "balloon_inflated", "pages"),
    Field::counts("balloon_deflate", "balloon_deflated", "pages"),
    Field::counts("numa_hint_faults", "numa_hints", ""),
    Field::counts("numa_hint_faults_local", "numa_hints_local", ""),
    Field::counts("numa_pages_migrated", "numa_migrated", "pages"),
];

#[cfg(test)]
mod tests {
    use super::super::fields;
    use super::*;
    use crate::counter::Counter;

    #[test]
    fn major_faults_are_not_all_faults() {
        let text =
            "pswpin 0\npgfault 672735292\npgmajfault 179651\npgsteal_direct 4\nnuma_hint_faults 2\nballoon_inflate 3\n";
        let found = fields::counters(text, "faults", FIELDS);
        assert_eq!(found[0], Counter::counts("faults.all", "", 672_735_292));
        assert_eq!(found[1], Counter::counts("faults.major", "", 179_651));
        assert_eq!(found.len(), 6);
    }
}
