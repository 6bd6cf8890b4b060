//! Huge pages made and split since boot, and pages shared by merging equal ones (`/proc/vmstat`, KSM's folder).

use super::Opening;
use super::fields::{self, Field};
use crate::counter::Counter;
use crate::files::Files;

const VMSTAT: &str = "/proc/vmstat";
const MERGING: &str = "/sys/kernel/mm/ksm";

const FIELDS: &[Field] = &[
    Field::counts("thp_fault_alloc", "made_at_faults", ""),
    Field::counts("thp_fault_fallback", "not_made_at_faults", ""),
    Field::counts("thp_collapse_alloc", "collapsed", ""),
    Field::counts("thp_collapse_alloc_failed", "not_collapsed", ""),
    Field::counts("thp_split_page", "split", ""),
    // The name before Linux 4.5.
    Field::counts("thp_split", "split", ""),
    Field::counts("thp_split_pmd", "mappings_split", ""),
];

/// Pages that replace several equal ones, and the number of pages saved.
const MERGED: [(&str, &str); 2] = [("pages_shared", "merged"), ("pages_sharing", "spared_by_merging")];

pub fn opening() -> Opening {
    let remedy = "a kernel built with CONFIG_TRANSPARENT_HUGEPAGE or CONFIG_KSM has some of it";
    Opening::new("huge_pages", format!("{VMSTAT} and {MERGING}"), remedy, |files| {
        let mut counters = fields::counters(&files.text(VMSTAT)?, "huge_pages", FIELDS);
        counters.extend(merged(files));
        if counters.is_empty() { Err(format!("{VMSTAT} counts no huge pages")) } else { Ok(counters) }
    })
}

fn merged(files: &mut Files) -> Vec<Counter> {
    let counter = |(file, name): (&str, &str)| {
        let pages = files.number(&format!("{MERGING}/{file}")).ok()?;
        Some(Counter::stands(format!("huge_pages.{name}"), "pages", pages))
    };
    MERGED.into_iter().filter_map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_have_one_name_on_old_and_new_kernels() {
        let new = "thp_fault_alloc 58228\nthp_fault_fallback 0\nthp_split_page 56\nthp_split_page_failed 9\nthp_split_pmd 1\n";
        let found = fields::counters(new, "huge_pages", FIELDS);
        assert_eq!(found[0], Counter::counts("huge_pages.made_at_faults", "", 58_228));
        assert_eq!(found[2], Counter::counts("huge_pages.split", "", 56));
        let old = fields::counters("thp_fault_alloc 1\nthp_split 5\n", "huge_pages", FIELDS);
        assert_eq!(old[1], Counter::counts("huge_pages.split", "", 5));
    }
}
