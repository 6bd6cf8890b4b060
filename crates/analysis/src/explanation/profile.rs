//! Load, operating system and I/O as published studies print them: figures per second, and their ratio.
//!
//! Unless a row says otherwise, all are as the machine itself sees them: a guest its own disk, a native machine the host's.

use super::evidence::Evidence;
use crate::counted::places::{DiskWork, NetworkWork, NodeCounts};
use crate::counted::{CountedTrial, SideCounts};
use crate::estimate::Estimate;
use record::telemetry::Side;
use serde::{Deserialize, Serialize};

const BITS: f64 = 8.0;
const MEGA: f64 = 1e6;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileTable {
    /// `load`, `system`, `storage`, `memory` or `tlb`.
    pub profile: String,
    pub rows: Vec<ProfileRow>,
}

/// Per second, unless the name says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileRow {
    pub name: String,
    pub baseline: Option<Estimate>,
    pub contender: Option<Estimate>,
    /// Contender over baseline, paired by block.
    pub ratio: Option<Estimate>,
}

/// Rows in per cent of a whole, of which there is no more than all.
const SHARES: [&str; 4] = ["cpu.busy", "cpu.stolen", "memory.local_loads", "memory.local_pages"];

type Figure = (&'static str, fn(&CountedTrial) -> Option<f64>);

const LOAD: &[Figure] = &[
    ("transactions", |trial| Some(trial.transactions / machine(trial)?.seconds)),
    ("disk.operations", |trial| disk(trial, DiskWork::operations)),
    ("disk.megabytes", |trial| disk(trial, |disk| disk.bytes() / MEGA)),
    ("network.received_packets", |trial| network(trial, |network| network.received_packets)),
    ("network.sent_packets", |trial| network(trial, |network| network.sent_packets)),
    ("network.received_megabits", |trial| network(trial, |network| network.received_bytes * BITS / MEGA)),
    ("network.sent_megabits", |trial| network(trial, |network| network.sent_bytes * BITS / MEGA)),
];

const SYSTEM: &[Figure] = &[
    ("interrupts", |trial| machine(trial)?.per_second("interrupts.total")),
    ("switches.context", |trial| machine(trial)?.per_second("switches.context")),
    ("disk.operations", |trial| disk(trial, DiskWork::operations)),
    ("cpu.busy", |trial| machine(trial)?.cpu().map(|cpu| 100.0 * cpu.busy_ms / cpu.all_ms)),
    ("cpu.stolen", |trial| machine(trial)?.cpu().map(|cpu| 100.0 * cpu.stolen_ms / cpu.all_ms)),
];

/// Of a machine on the host's kernel it is the host's, so there is no ratio of it.
const FREE: &str = "memory.free_megabytes";

/// The last three rows are left out if the host has one memory node. Loads are those of the shape's CPUs, pages those of
/// the whole host.
const MEMORY: &[Figure] = &[
    (FREE, |trial| Some(machine(trial)?.worth("memory.free")? / MEGA)),
    ("vcpus.migrations", |trial| host(trial)?.vcpu_migrations_per_second()),
    ("memory.local_loads", |trial| local_share(host(trial)?.node_loads()?)),
    ("memory.local_pages", |trial| local_share(host(trial)?.node_pages()?)),
    ("memory.moved_pages", |trial| {
        let host = host(trial)?;
        host.node_pages().and_then(|_| host.per_second("faults.numa_migrated"))
    }),
];

/// Misses per 1,000 instructions.
const TLB: &[Figure] = &[
    ("tlb.data.inside", |trial| misses(machine(trial)?, ["perf.dtlb_load_misses", "perf.instructions"])),
    ("tlb.instructions.inside", |trial| misses(machine(trial)?, ["perf.itlb_load_misses", "perf.instructions"])),
    ("tlb.data.host", |trial| misses(host(trial)?, ["perf.dtlb_load_misses", "perf.instructions"])),
    ("tlb.instructions.host", |trial| misses(host(trial)?, ["perf.itlb_load_misses", "perf.instructions"])),
    ("tlb.data.vcpus", |trial| {
        misses(host(trial)?, ["perf.vcpus.dtlb_load_misses.guest", "perf.vcpus.instructions.guest"])
    }),
    ("tlb.instructions.vcpus", |trial| {
        misses(host(trial)?, ["perf.vcpus.itlb_load_misses.guest", "perf.vcpus.instructions.guest"])
    }),
];

const PER_INSTRUCTIONS: f64 = 1_000.0;

const STORAGE: &[Figure] = &[
    ("disk.operations", |trial| disk(trial, DiskWork::operations)),
    ("disk.reads", |trial| disk(trial, |disk| disk.reads)),
    ("disk.writes", |trial| disk(trial, |disk| disk.writes)),
    ("disk.megabytes", |trial| disk(trial, |disk| disk.bytes() / MEGA)),
    ("disk.megabytes_read", |trial| disk(trial, |disk| disk.read_bytes / MEGA)),
    ("disk.megabytes_written", |trial| disk(trial, |disk| disk.write_bytes / MEGA)),
    ("disk.ms_of_a_read", |trial| machine(trial)?.disk()?.ms_of_a_read()),
    ("disk.ms_of_a_write", |trial| machine(trial)?.disk()?.ms_of_a_write()),
];

fn machine(trial: &CountedTrial) -> Option<&SideCounts> {
    trial.side(Side::Machine)
}

fn host(trial: &CountedTrial) -> Option<&SideCounts> {
    trial.side(Side::Host)
}

/// `None` where either is not counted.
fn misses(side: &SideCounts, [misses, instructions]: [&str; 2]) -> Option<f64> {
    let instructions = side.worth(instructions).filter(|count| *count > 0.0)?;
    Some(side.worth(misses)? * PER_INSTRUCTIONS / instructions)
}

/// In per cent; `None` where there were none.
fn local_share(found: NodeCounts) -> Option<f64> {
    let all = found.local + found.remote;
    (all > 0.0).then(|| 100.0 * found.local / all)
}

fn disk(trial: &CountedTrial, of: fn(&DiskWork) -> f64) -> Option<f64> {
    let machine = machine(trial)?;
    Some(of(&machine.disk()?) / machine.seconds)
}

fn network(trial: &CountedTrial, of: fn(&NetworkWork) -> f64) -> Option<f64> {
    let machine = machine(trial)?;
    Some(of(&machine.network()?) / machine.seconds)
}

/// The tables that are not empty.
pub fn tables(evidence: &Evidence<'_>) -> Vec<ProfileTable> {
    let tables = [("load", LOAD), ("system", SYSTEM), ("storage", STORAGE), ("memory", MEMORY), ("tlb", TLB)];
    let made = tables.map(|(profile, figures)| ProfileTable {
        profile: profile.to_owned(),
        rows: figures.iter().filter_map(|figure| row(evidence, figure)).collect(),
    });
    made.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn row(evidence: &Evidence<'_>, (name, of): &Figure) -> Option<ProfileRow> {
    use super::evidence::Who::{Baseline, Contender};
    let (baseline, contender, ratio) = match evidence.pair(of) {
        Some(pair) => (Some(pair.baseline), Some(pair.contender), pair.ratio),
        None => (evidence.value(Baseline, of), evidence.value(Contender, of), None),
    };
    let most = if SHARES.contains(name) { 100.0 } else { f64::INFINITY };
    let [baseline, contender] = [baseline, contender].map(|level| level.map(|level| level.within(0.0, most)));
    let ratio = ratio.filter(|_| *name != FREE);
    let any = baseline.is_some() || contender.is_some();
    any.then(|| ProfileRow { name: (*name).to_owned(), baseline, contender, ratio })
}

#[cfg(test)]
mod tests {
    use super::super::evidence::PairedBlock;
    use super::super::evidence::tests::trial;
    use super::*;
    use crate::counted::Counted;
    use crate::counted::unit::Unit;
    use record::telemetry::Behaviour;

    fn counted(columns: &[(&str, f64)]) -> SideCounts {
        let column =
            |worth| Counted { unit: Unit::Things, behaviour: Behaviour::Counts, worth: Some(worth), rates: vec![] };
        let columns = columns.iter().map(|(name, worth)| ((*name).to_owned(), column(*worth))).collect();
        SideCounts { seconds: 10.0, columns, ..SideCounts::default() }
    }

    /// 3.6 native and 4.2 in a guest, as in a published study.
    #[test]
    fn misses_are_told_for_each_thousand_instructions_where_both_are_counted() {
        let native = CountedTrial {
            host: Ok(counted(&[("perf.instructions", 5e9), ("perf.dtlb_load_misses", 18e6)])),
            ..trial(100.0)
        };
        let guest = [
            ("perf.instructions", 4e9),
            ("perf.dtlb_load_misses", 16.8e6),
            ("perf.vcpus.instructions.guest", 2e9),
            ("perf.vcpus.itlb_load_misses.guest", 1e6),
            ("perf.vcpus.dtlb_load_misses.host", 1e6),
        ];
        let guest = CountedTrial { host: Ok(counted(&guest)), ..trial(90.0) };
        let block = PairedBlock { baseline: vec![&native], contender: vec![&guest] };
        let evidence = Evidence { baseline: "native", contender: "kvm", blocks: vec![block] };
        let tables = tables(&evidence);
        let table = tables.iter().find(|table| table.profile == "tlb").unwrap();
        let point =
            |estimate: &Option<Estimate>| estimate.as_ref().map(|estimate| (estimate.point * 1e6).round() / 1e6);
        let rows: Vec<_> =
            table.rows.iter().map(|row| (row.name.as_str(), point(&row.baseline), point(&row.contender))).collect();
        let expected = [("tlb.data.host", Some(3.6), Some(4.2)), ("tlb.instructions.vcpus", None, Some(0.5))];
        assert_eq!(rows, expected);
        assert_eq!(point(&table.rows[0].ratio), Some(1.166_667));
    }

    /// 80 % native and 48.5 % in a guest, as in a published study.
    #[test]
    fn local_accesses_are_told_where_the_host_has_several_nodes() {
        let pages = [
            ("numa_allocation.node0.by_own_cpus", 60.0),
            ("numa_allocation.node0.by_other_cpus", 10.0),
            ("numa_allocation.node1.by_own_cpus", 20.0),
            ("numa_allocation.node1.by_other_cpus", 10.0),
            ("faults.numa_migrated", 50.0),
            ("perf.node_loads", 1e6),
        ];
        let of = |misses: f64, more: &[(&str, f64)]| {
            let columns: Vec<_> =
                pages.iter().chain(&[("perf.node_load_misses", misses)]).chain(more).copied().collect();
            CountedTrial { host: Ok(counted(&columns)), ..trial(100.0) }
        };
        let native = of(0.2e6, &[]);
        let guest = of(0.515e6, &[("vcpu.0.migrations", 30.0), ("vcpu.1.migrations", 10.0)]);
        let rows = |native: &CountedTrial, guest: &CountedTrial| {
            let block = PairedBlock { baseline: vec![native], contender: vec![guest] };
            let found = tables(&Evidence { baseline: "native", contender: "kvm", blocks: vec![block] });
            let table = found.into_iter().find(|table| table.profile == "memory").unwrap();
            let point = |found: Option<Estimate>| found.map(|found| (found.point * 1e6).round() / 1e6);
            let row = |row: ProfileRow| (row.name, point(row.baseline), point(row.contender));
            table.rows.into_iter().map(row).collect::<Vec<_>>()
        };
        let expected = [
            ("vcpus.migrations".to_owned(), None, Some(4.0)),
            ("memory.local_loads".to_owned(), Some(80.0), Some(48.5)),
            ("memory.local_pages".to_owned(), Some(80.0), Some(80.0)),
            ("memory.moved_pages".to_owned(), Some(5.0), Some(5.0)),
        ];
        assert_eq!(rows(&native, &guest), expected);
        let of_one_node = |mut trial: CountedTrial| {
            trial.host.as_mut().unwrap().columns.retain(|name, _| !name.contains("node1"));
            trial
        };
        assert_eq!(rows(&of_one_node(native), &of_one_node(guest)), expected[..1]);
    }

    #[test]
    fn no_cpu_is_busier_than_all_the_time() {
        let busy = |share: f64| CountedTrial {
            machine: Ok(counted(&[
                ("cpu.user", share),
                ("cpu.nice", 0.0),
                ("cpu.system", 0.0),
                ("cpu.idle", 100.0 - share),
            ])),
            ..trial(100.0)
        };
        let trials = [90.0, 100.0, 99.0].map(busy);
        let block = |trial| PairedBlock { baseline: vec![trial], contender: vec![trial] };
        let evidence = Evidence { baseline: "native", contender: "kvm", blocks: trials.iter().map(block).collect() };
        let tables = tables(&evidence);
        let mut rows = tables.iter().flat_map(|table| &table.rows);
        let (_, high) =
            rows.find(|row| row.name == "cpu.busy").unwrap().baseline.as_ref().unwrap().bounds.known().unwrap();
        assert_eq!(high.to_bits(), 100.0_f64.to_bits());
    }

    #[test]
    fn without_instructions_nothing_is_said_of_misses() {
        assert_eq!(
            misses(&counted(&[("perf.dtlb_load_misses", 5.0)]), ["perf.dtlb_load_misses", "perf.instructions"]),
            None
        );
        let none = counted(&[("perf.dtlb_load_misses", 5.0), ("perf.instructions", 0.0)]);
        assert_eq!(misses(&none, ["perf.dtlb_load_misses", "perf.instructions"]), None);
    }
}
