//! A process with all its descendants as one: the database's server with its backends, QEMU without its vCPUs.
//!
//! Threads come and go. A thread's last known values stay in the sums, so these only grow; what it did between then
//! and its end is not seen. A process whose parent had ended before it was first seen is not found.

use super::threads::{parse_sched, parse_schedstat};
use super::{Opening, ProbeReading};
use crate::counter::Counter;
use crate::processes::parent_of;
use crate::targets::FamilyTarget;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// Run, wait, turns; migrations, voluntary and involuntary switches.
type FamilyValues = [u64; 6];
const NAMES: [(&str, &str); 6] =
    [("run", "ns"), ("wait", "ns"), ("turns", ""), ("migrations", ""), ("voluntary", ""), ("involuntary", "")];
/// How many of them are known without reading `sched`.
const WITHOUT_SWITCHES: usize = 3;

pub fn opening(target: &FamilyTarget) -> Opening {
    let mut family = ProcessFamily::new(target.clone());
    let source = format!("/proc/{} and below", target.process);
    let remedy = "the process must run and be visible, and migrations need a kernel built with CONFIG_SCHED_DEBUG";
    Opening::new(target.label.clone(), source, remedy, move |files| family.read(files.tree()))
}

struct ProcessFamily {
    target: FamilyTarget,
    kinship: Kinship,
    sums: FamilySums,
}

impl ProcessFamily {
    fn new(target: FamilyTarget) -> Self {
        let kinship = Kinship::new(target.process);
        Self { target, kinship, sums: FamilySums::default() }
    }

    fn read(&mut self, tree: &Tree) -> ProbeReading {
        let root = self.target.process;
        let processes = tree.names("/proc").into_iter().filter_map(|name| name.parse().ok()).collect();
        let members = self.kinship.members(&processes, |process| parent_of(tree, process));
        if members.is_empty() {
            return Err(format!("process {root} has ended, or is not visible"));
        }
        let threads = members.iter().flat_map(|process| threads_of(tree, *process));
        let mut counted = threads.filter(|(_, thread)| !self.target.without_threads.contains(thread)).peekable();
        let there_are_some = counted.peek().is_some();
        let read = |(process, thread)| Some((thread, values(tree, process, thread, self.target.with_switches)?));
        let seen: BTreeMap<u32, FamilyValues> = counted.filter_map(read).collect();
        let (processes, threads) = (members.len(), seen.len());
        if there_are_some && seen.is_empty() {
            return Err(format!("the kernel does not report the times of the threads of process {root}"));
        }
        let sums = self.sums.with(seen);
        Ok(self.named(sums, processes as u64, threads as u64))
    }

    fn named(&self, sums: FamilyValues, processes: u64, threads: u64) -> Vec<Counter> {
        let label = &self.target.label;
        let known = if self.target.with_switches { NAMES.len() } else { WITHOUT_SWITCHES };
        let named = NAMES.iter().zip(sums).take(known);
        let mut counters: Vec<Counter> =
            named.map(|((name, unit), sum)| Counter::counts(format!("{label}.{name}"), *unit, sum)).collect();
        counters.push(Counter::stands(format!("{label}.processes"), "tasks", processes));
        counters.push(Counter::stands(format!("{label}.threads"), "tasks", threads));
        counters
    }
}

fn threads_of(tree: &Tree, process: u32) -> Vec<(u32, u32)> {
    let names = tree.names(&format!("/proc/{process}/task")).into_iter();
    names.filter_map(|name| Some((process, name.parse().ok()?))).collect()
}

/// The values of a thread; `None` if it has just ended.
fn values(tree: &Tree, process: u32, thread: u32, with_switches: bool) -> Option<FamilyValues> {
    let text = |file: &str| tree.text(&format!("/proc/{process}/task/{thread}/{file}")).ok();
    let [run, wait, turns] = parse_schedstat(&text("schedstat")?)?;
    let [migrations, voluntary, involuntary] = if with_switches { parse_sched(&text("sched")?)? } else { [0; 3] };
    Some([run, wait, turns, migrations, voluntary, involuntary])
}

/// The known descendants of a process, remembered so that only new processes are asked for their parent.
struct Kinship {
    root: u32,
    is_member: BTreeMap<u32, bool>,
}

impl Kinship {
    fn new(root: u32) -> Self {
        Self { root, is_member: BTreeMap::new() }
    }

    fn members(&mut self, processes: &BTreeSet<u32>, parent_of: impl Fn(u32) -> Option<u32>) -> BTreeSet<u32> {
        self.is_member.retain(|process, _| processes.contains(process));
        let fresh = processes.iter().filter(|process| !self.is_member.contains_key(process));
        let mut parents: BTreeMap<u32, u32> =
            fresh.filter_map(|process| Some((*process, parent_of(*process)?))).collect();
        if parents.remove(&self.root).is_some() {
            self.is_member.insert(self.root, true);
        }
        // Numbers are reused, so a child may have a smaller one than its parent.
        loop {
            let decided: Vec<(u32, bool)> =
                parents.iter().filter_map(|(process, parent)| Some((*process, *self.is_member.get(parent)?))).collect();
            if decided.is_empty() {
                break;
            }
            for (process, is_member) in decided {
                parents.remove(&process);
                self.is_member.insert(process, is_member);
            }
        }
        // The remaining ones have a parent that cannot be seen.
        self.is_member.extend(parents.into_keys().map(|process| (process, false)));
        self.is_member.iter().filter(|(_, is_member)| **is_member).map(|(process, _)| *process).collect()
    }
}

/// Sums over existing threads and those that have ended.
#[derive(Default)]
struct FamilySums {
    last: BTreeMap<u32, FamilyValues>,
    ended: FamilyValues,
}

impl FamilySums {
    fn with(&mut self, seen: BTreeMap<u32, FamilyValues>) -> FamilyValues {
        for (thread, last) in &self.last {
            // If a value decreases, the number belongs to a new thread.
            let goes_on = seen.get(thread).is_some_and(|now| now.iter().zip(last).all(|(now, last)| now >= last));
            if !goes_on {
                self.ended = added(self.ended, *last);
            }
        }
        self.last = seen;
        self.last.values().fold(self.ended, |sum, values| added(sum, *values))
    }
}

fn added(one: FamilyValues, other: FamilyValues) -> FamilyValues {
    std::array::from_fn(|place| one[place].saturating_add(other[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(run: u64) -> FamilyValues {
        [run, 2 * run, 1, 0, 0, 0]
    }

    #[test]
    fn sums_only_grow_when_threads_end_and_numbers_are_used_again() {
        let mut sums = FamilySums::default();
        assert_eq!(sums.with([(7, values(10)), (8, values(5))].into()), [15, 30, 2, 0, 0, 0]);
        assert_eq!(sums.with([(7, values(12))].into()), [17, 34, 2, 0, 0, 0]);
        assert_eq!(sums.with([(7, values(1))].into())[0], 12 + 5 + 1);
        assert_eq!(sums.with(BTreeMap::new())[0], 18);
    }

    #[test]
    fn members_are_those_below_whatever_their_numbers() {
        let mut kinship = Kinship::new(50);
        // The parent of 9 and 60 is 50, that of 4 is 9, and that of 3 is 2.
        let parents = BTreeMap::from([(2, 0), (3, 2), (4, 9), (9, 50), (50, 2), (60, 50)]);
        let parent_of = |process: u32| parents.get(&process).copied();
        let members = kinship.members(&[2, 3, 4, 9, 50, 60].into(), parent_of);
        assert_eq!(members, [4, 9, 50, 60].into());
        // 9 has ended; 4 stays a member although it has another parent now.
        let members = kinship.members(&[2, 3, 4, 50].into(), |_| Some(2));
        assert_eq!(members, [4, 50].into());
        assert!(kinship.members(&[2, 3].into(), parent_of).is_empty());
    }

    #[test]
    fn parents_that_cannot_be_seen_make_no_members() {
        let mut kinship = Kinship::new(50);
        assert_eq!(kinship.members(&[50, 51, 52].into(), |process| (process != 51).then_some(1_000)), [50].into());
    }
}
