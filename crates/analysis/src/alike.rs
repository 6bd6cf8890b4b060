//! What contenders should have in common beside the shape. Where they differ in it, a ratio is not due to the platforms alone.
//!
//! Most comparisons of a host with a guest differ in some of it, since a guest boots its own kernel. That is no mistake,
//! but a reader who takes the ratio as a hypervisor's price must know it. What a platform is meant to decide is not listed.

use crate::findings::{FactDiffers, Finding, SharedValue, What};
use crate::gathered::{by_first, distinct, joined};
use crate::groups::{self, Group};
use crate::machines::known;
use crate::validity;
use record::plan::Cell;
use record::run::Run;
use record::trial::MachineFacts;
use std::collections::BTreeMap;

/// Facts observed inside the machine that no platform is meant to change, the most important first.
const ALIKE: [&str; 17] = [
    "cpu.mitigated",
    "cpu.vulnerable",
    "memory.transparent_huge_pages",
    "memory.transparent_huge_pages_defrag",
    "memory.swappiness",
    "memory.dirty_background",
    "memory.dirty_most",
    "memory.dirty_expire_centiseconds",
    "storage.mount_options",
    "storage.commit_options",
    "storage.journal",
    "storage.scheduler",
    "storage.read_ahead_kib",
    "storage.write_throttling_us",
    "kernel.autogroup",
    "kernel.io_uring",
    "kernel.security_modules",
];

const STORAGE: &str = "storage.";

/// Mount options that cost nothing.
const NEUTRAL_OPTIONS: [&str; 3] = ["nosuid", "nodev", "noexec"];

/// The host's facts on whether it is a guest, and of which hypervisor.
const IS_GUEST: &str = "virtualization.guest";
const VENDOR: &str = "virtualization.vendor";

/// How the contenders of each group differ. A difference that several groups share is reported once.
pub fn differences(run: &Run) -> Vec<Finding> {
    distinct(groups::of_plan(&run.plan).iter().filter_map(|group| of_group(run, group)))
}

fn of_group(run: &Run, group: &Group<'_>) -> Option<Finding> {
    let seen: Vec<(&Cell, BTreeMap<&str, String>)> =
        group.cells.iter().map(|cell| (*cell, inside(run, cell))).collect();
    let facts: Vec<FactDiffers> = ALIKE.iter().filter_map(|name| difference(name, &seen)).collect();
    (!facts.is_empty()).then(|| Finding::new(What::SystemsDiffer { facts }))
}

/// What a cell's machines report about themselves; several values are joined if trials differ.
fn inside<'a>(run: &'a Run, cell: &Cell) -> BTreeMap<&'a str, String> {
    let machines = validity::trials_of(run, cell.id).filter_map(|trial| trial.record.machine.as_ref());
    let of_machine = |machine: &'a MachineFacts| {
        // The file system that gVisor shows is its own way to that of the host, with options of its own.
        let has_its_own = machine.has_a_kernel_between();
        let facts = machine.inside.iter().filter(move |(name, _)| !(has_its_own && name.starts_with(STORAGE)));
        facts.filter_map(|(name, fact)| Some((name.as_str(), telling(name, known(fact)?))))
    };
    joined(machines.flat_map(of_machine), " | ")
}

fn telling(name: &str, text: &str) -> String {
    if name != "storage.mount_options" {
        return text.to_owned();
    }
    text.split(',').filter(|option| !NEUTRAL_OPTIONS.contains(option)).collect::<Vec<_>>().join(",")
}

/// `None` unless the contenders that know the fact differ in it; those that do not know it are ignored.
fn difference(name: &str, seen: &[(&Cell, BTreeMap<&str, String>)]) -> Option<FactDiffers> {
    let each = seen.iter().filter_map(|(cell, facts)| Some((facts.get(name)?, cell.contender.clone())));
    let shared = |(value, contenders): (&String, _)| SharedValue { value: value.clone(), contenders };
    let values: Vec<SharedValue> = by_first(each).into_iter().map(shared).collect();
    (values.len() > 1).then(|| FactDiffers { fact: name.to_owned(), values })
}

/// Reports a host that is a guest, so that nothing on it runs on bare metal. It does not matter where no machine is on it.
pub fn nested(run: &Run) -> Option<Finding> {
    if run.plan.cells.iter().all(|cell| cell.settings.is_elsewhere()) {
        return None;
    }
    let of_host = |name: &str| run.host.get(name).and_then(known);
    let of = of_host(VENDOR).map(str::to_owned);
    (of_host(IS_GUEST) == Some("yes")).then(|| Finding::new(What::HostIsGuest { of }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::facts::{Fact, RUNTIME, SYSTEM_CALLS};
    use record::synthetic;

    fn with_inside(run: &mut Run, cell: u32, name: &str, text: &str) {
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == cell) {
            let machine = trial.record.machine.as_mut().unwrap();
            machine.inside.insert(name.to_owned(), Fact::known(text));
        }
    }

    #[test]
    fn what_no_platform_changes_is_named_where_it_differs() {
        let mut run = synthetic::run(3);
        with_inside(&mut run, 0, "memory.transparent_huge_pages", "madvise");
        with_inside(&mut run, 1, "memory.transparent_huge_pages", "always");
        with_inside(&mut run, 0, "cpu.vulnerable", &"spec_store_bypass ".repeat(5));
        with_inside(&mut run, 1, "cpu.vulnerable", "none");
        // Only one side knows the scheduler, the mount options that differ cost nothing, and the vendor is up to the platform.
        with_inside(&mut run, 0, "storage.scheduler", "mq-deadline");
        with_inside(&mut run, 0, "storage.mount_options", "rw,nosuid,nodev,noatime");
        with_inside(&mut run, 1, "storage.mount_options", "rw,noatime");
        with_inside(&mut run, 1, "virtualization.vendor", "KVM");
        let found = differences(&run);
        let [Finding { what: What::SystemsDiffer { facts }, .. }] = found.as_slice() else { panic!("{found:?}") };
        let told = |fact: &FactDiffers| {
            let values: Vec<String> =
                fact.values.iter().map(|one| format!("{} {:?}", one.value, one.contenders)).collect();
            (fact.fact.clone(), values)
        };
        let told: Vec<(String, Vec<String>)> = facts.iter().map(told).collect();
        let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["cpu.vulnerable", "memory.transparent_huge_pages"]);
        assert_eq!(told[1].1, ["madvise [\"native\"]", "always [\"kvm\"]"]);
        with_inside(&mut run, 1, "memory.transparent_huge_pages", "madvise");
        with_inside(&mut run, 0, "cpu.vulnerable", "none");
        assert_eq!(differences(&run), Vec::new());
    }

    #[test]
    fn the_file_system_that_gvisor_shows_is_compared_with_none() {
        let mut run = synthetic::run(3);
        with_inside(&mut run, 0, "storage.mount_options", "rw,noatime");
        with_inside(&mut run, 1, "storage.mount_options", "rw,trans=fd");
        let names = |run: &Run| match differences(run).as_slice() {
            [Finding { what: What::SystemsDiffer { facts }, .. }] => {
                facts.iter().map(|fact| fact.fact.clone()).collect::<Vec<_>>()
            }
            none => none.iter().map(|finding| format!("{finding:?}")).collect(),
        };
        assert_eq!(names(&run), ["storage.mount_options"]);
        let machines = run.trials.iter_mut().filter(|trial| trial.record.cell == 1);
        for machine in machines.filter_map(|trial| trial.record.machine.as_mut()) {
            machine.decided.insert(SYSTEM_CALLS.to_owned(), Fact::known("gVisor, platform systrap"));
            machine.decided.insert(RUNTIME.to_owned(), Fact::known("runsc 1.0, /usr/bin/runsc"));
            assert!(!machine.is_on_the_hosts_kernel());
        }
        assert_eq!(names(&run), Vec::<String>::new());
        assert_eq!(crate::machines::runtime(&run, 1).as_deref(), Some("runsc 1.0, system calls by gVisor"));
        assert_eq!(crate::machines::runtime(&run, 0), None);
    }

    #[test]
    fn a_host_that_is_a_guest_is_told() {
        let mut run = synthetic::run(3);
        assert_eq!(nested(&run), None);
        run.host.insert(IS_GUEST.to_owned(), Fact::known("no"));
        assert_eq!(nested(&run), None);
        run.host.insert(IS_GUEST.to_owned(), Fact::known("yes"));
        run.host.insert(VENDOR.to_owned(), Fact::known("KVM"));
        assert_eq!(nested(&run).unwrap().what, What::HostIsGuest { of: Some("KVM".to_owned()) });
    }
}
