//! Counts of a machine and its host over the measured window: CPU time, interrupts, disk, network, memory nodes. Figures of
//! transactions are over all kinds; rates are per second of the window.
//!
//! Unless a figure says otherwise, it is as the machine itself sees it: a guest its own disk, a native machine the host's.

use super::{Better, MeasureReading, Scale, Unit};
use crate::counted::places::DiskWork;
use crate::counted::{self, CountedTrial, SideCounts};
use record::run::StoredTrial;
use record::telemetry::Side;

pub const CPU_ON_HOST: &str = "work.cpu_on_host";
pub const CPU_INSIDE: &str = "work.cpu_inside";
pub const CPUS_BUSY: &str = "machine.cpus_busy";
pub const CPUS_STOLEN: &str = "machine.cpus_stolen";
pub const INTERRUPTS: &str = "machine.interrupts";
pub const CONTEXT_SWITCHES: &str = "machine.context_switches";
pub const TRANSACTIONS: &str = "machine.transactions";
pub const DISK_OPERATIONS: &str = "machine.disk_operations";
pub const DISK_BYTES: &str = "machine.disk_bytes";
pub const DISK_READ_TIME: &str = "machine.disk_read_time";
pub const DISK_WRITE_TIME: &str = "machine.disk_write_time";

/// The names of costs of a transaction that machine and host count begin with these.
pub const COUNTED_COSTS: [&str; 7] = [
    "work.cpu",
    "work.interrupts",
    "work.context_switches",
    "work.page_faults",
    "work.packets",
    "work.exits",
    "work.energy",
];

/// The names of costs of a transaction that depend on the platform begin with these; on their ratios Why may speak.
pub const COSTS: [&str; 6] =
    ["work.cpu", "work.interrupts", "work.context_switches", "work.page_faults", "work.packets", "storage."];

const MICROS_PER_JOULE: f64 = 1e6;
/// TLB misses are counted for so many instructions.
const INSTRUCTIONS: f64 = 1_000.0;

struct CountedFigure {
    id: &'static str,
    unit: Unit,
    better: Better,
    scale: Scale,
    of: fn(&CountedTrial) -> Option<f64>,
}

/// What each transaction cost: less is better.
const fn cost(id: &'static str, unit: Unit, of: fn(&CountedTrial) -> Option<f64>) -> CountedFigure {
    CountedFigure { id, unit, better: Better::Less, scale: Scale::Ratio, of }
}

const fn rate(id: &'static str, unit: Unit, of: fn(&CountedTrial) -> Option<f64>) -> CountedFigure {
    CountedFigure { id, unit, better: Better::Neither, scale: Scale::Ratio, of }
}

const fn share(id: &'static str, better: Better, of: fn(&CountedTrial) -> Option<f64>) -> CountedFigure {
    CountedFigure { id, unit: Unit::Share, better, scale: Scale::Proportion, of }
}

const FIGURES: &[CountedFigure] = &[
    cost(CPU_ON_HOST, Unit::MillisecondsPerTransaction, |trial| each(trial, host(trial)?.cpu_of_machine_ms())),
    cost(CPU_INSIDE, Unit::MillisecondsPerTransaction, |trial| {
        let cpu = machine(trial)?.cpu()?;
        each(trial, Some(cpu.busy_ms - cpu.stolen_ms))
    }),
    cost("work.interrupts", Unit::PerTransaction, CountedTrial::interrupts_each),
    cost("work.context_switches", Unit::PerTransaction, |trial| each(trial, machine(trial)?.worth("switches.context"))),
    cost("work.page_faults", Unit::PerTransaction, |trial| each(trial, machine(trial)?.worth("faults.all"))),
    cost("work.packets", Unit::PerTransaction, |trial| {
        let machine = machine(trial)?;
        each(trial, Some(machine.network("received_packets")? + machine.network("sent_packets")?))
    }),
    cost("work.exits", Unit::PerTransaction, CountedTrial::exits_each),
    cost("work.energy", Unit::JoulesPerTransaction, |trial| {
        each(trial, host(trial)?.energy_of_packages_uj().map(|used| used / MICROS_PER_JOULE))
    }),
    rate(TRANSACTIONS, Unit::PerSecond, |trial| Some(trial.transactions / machine(trial)?.seconds)),
    share(CPUS_BUSY, Better::Neither, |trial| machine(trial)?.cpu().map(|cpu| cpu.busy_ms / cpu.all_ms)),
    share("machine.cpus_waiting", Better::Neither, |trial| {
        machine(trial)?.cpu().map(|cpu| cpu.waiting_ms / cpu.all_ms)
    }),
    share(CPUS_STOLEN, Better::Less, CountedTrial::stolen_share),
    share("machine.waited_for_cpu", Better::Less, CountedTrial::waited_of_wanted),
    share("machine.throttled", Better::Less, CountedTrial::throttled_share),
    rate(INTERRUPTS, Unit::PerSecond, |trial| machine(trial)?.per_second("interrupts.total")),
    rate(CONTEXT_SWITCHES, Unit::PerSecond, |trial| machine(trial)?.per_second("switches.context")),
    rate(DISK_OPERATIONS, Unit::PerSecond, |trial| disk(trial, DiskWork::operations)),
    rate("machine.disk_reads", Unit::PerSecond, |trial| disk(trial, |disk| disk.reads)),
    rate("machine.disk_writes", Unit::PerSecond, |trial| disk(trial, |disk| disk.writes)),
    rate(DISK_BYTES, Unit::BytesPerSecond, |trial| disk(trial, DiskWork::bytes)),
    rate("machine.disk_read", Unit::BytesPerSecond, |trial| disk(trial, |disk| disk.read_bytes)),
    rate("machine.disk_written", Unit::BytesPerSecond, |trial| disk(trial, |disk| disk.write_bytes)),
    cost(DISK_READ_TIME, Unit::Milliseconds, |trial| machine(trial)?.disk()?.ms_of_a_read()),
    cost(DISK_WRITE_TIME, Unit::Milliseconds, |trial| machine(trial)?.disk()?.ms_of_a_write()),
    rate("machine.packets_received", Unit::PerSecond, |trial| network(trial, "received_packets")),
    rate("machine.packets_sent", Unit::PerSecond, |trial| network(trial, "sent_packets")),
    rate("machine.received", Unit::BytesPerSecond, |trial| network(trial, "received_bytes")),
    rate("machine.sent", Unit::BytesPerSecond, |trial| network(trial, "sent_bytes")),
    // Of a machine on the host's kernel it is the host's, so there is no ratio of it.
    CountedFigure {
        id: "memory.free",
        unit: Unit::Bytes,
        better: Better::Neither,
        scale: Scale::Difference,
        of: |trial| machine(trial)?.worth("memory.free"),
    },
    // Loads are those of the shape's CPUs, pages those of the whole host. Neither is there on a host with one memory node.
    share("memory.local_loads", Better::More, |trial| local_share(host(trial)?.node_loads()?)),
    share("memory.local_pages", Better::More, |trial| local_share(host(trial)?.node_pages()?)),
    rate("memory.moved_pages", Unit::PerSecond, |trial| {
        let host = host(trial)?;
        host.node_pages().and_then(|_| host.per_second("faults.numa_migrated"))
    }),
    rate("vcpus.migrations", Unit::PerSecond, CountedTrial::migrations_per_second),
    cost("tlb.data/inside", Unit::Count, |trial| misses(machine(trial)?, "perf.dtlb_load_misses")),
    cost("tlb.instructions/inside", Unit::Count, |trial| misses(machine(trial)?, "perf.itlb_load_misses")),
    cost("tlb.data/host", Unit::Count, |trial| misses(host(trial)?, "perf.dtlb_load_misses")),
    cost("tlb.instructions/host", Unit::Count, |trial| misses(host(trial)?, "perf.itlb_load_misses")),
    cost("tlb.data/vcpus", Unit::Count, |trial| misses(host(trial)?, "perf.vcpus.dtlb_load_misses.guest")),
    cost("tlb.instructions/vcpus", Unit::Count, |trial| misses(host(trial)?, "perf.vcpus.itlb_load_misses.guest")),
];

/// Every name of these measures.
pub fn names() -> impl Iterator<Item = &'static str> {
    FIGURES.iter().map(|figure| figure.id)
}

/// None without telemetry.
pub fn readings(trial: &StoredTrial) -> Vec<MeasureReading> {
    counted::of_trial(trial).map(|trial| of_counted(&trial)).unwrap_or_default()
}

fn of_counted(trial: &CountedTrial) -> Vec<MeasureReading> {
    let reading = |CountedFigure { id, unit, better, scale, of }: &CountedFigure| {
        let value = of(trial).filter(|value| value.is_finite())?;
        Some(MeasureReading::new(*id, unit.clone(), *better, *scale, value))
    };
    FIGURES.iter().filter_map(reading).collect()
}

fn machine(trial: &CountedTrial) -> Option<&SideCounts> {
    trial.side(Side::Machine)
}

fn host(trial: &CountedTrial) -> Option<&SideCounts> {
    trial.side(Side::Host)
}

fn each(trial: &CountedTrial, count: Option<f64>) -> Option<f64> {
    Some(count? / trial.transactions)
}

/// For the instructions that are counted beside them; `None` where either is not counted.
fn misses(side: &SideCounts, misses: &str) -> Option<f64> {
    let instructions = misses.replace("dtlb_load_misses", "instructions").replace("itlb_load_misses", "instructions");
    let instructions = side.worth(&instructions).filter(|count| *count > 0.0)?;
    Some(side.worth(misses)? * INSTRUCTIONS / instructions)
}

/// `None` where there were none.
fn local_share([local, remote]: [f64; 2]) -> Option<f64> {
    (local + remote > 0.0).then(|| local / (local + remote))
}

fn disk(trial: &CountedTrial, of: fn(&DiskWork) -> f64) -> Option<f64> {
    let machine = machine(trial)?;
    Some(of(&machine.disk()?) / machine.seconds)
}

fn network(trial: &CountedTrial, field: &str) -> Option<f64> {
    let machine = machine(trial)?;
    Some(machine.network(field)? / machine.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counted::Counted;
    use crate::counted::unit::CountedUnit;
    use crate::explanation::evidence::tests::trial;
    use record::telemetry::Behaviour;

    fn counted(columns: &[(&str, f64)]) -> SideCounts {
        let column = |worth| Counted {
            unit: CountedUnit::Things,
            behaviour: Behaviour::Counts,
            worth: Some(worth),
            rates: vec![],
        };
        let columns = columns.iter().map(|(name, worth)| ((*name).to_owned(), column(*worth))).collect();
        SideCounts { seconds: 10.0, columns, ..SideCounts::default() }
    }

    /// The figures of these families, in millionths.
    fn found(trial: &CountedTrial, families: &[&str]) -> Vec<(String, f64)> {
        let of = |reading: MeasureReading| {
            let value = reading.value.unwrap();
            (reading.measure.id, (value * 1e6).round() / 1e6)
        };
        let found = of_counted(trial).into_iter().map(of);
        found.filter(|(id, _)| families.iter().any(|family| id.starts_with(family))).collect()
    }

    fn named(figures: &[(&str, f64)]) -> Vec<(String, f64)> {
        figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    /// 3.6 native and 4.2 in a guest, as in a published study.
    #[test]
    fn misses_are_for_each_thousand_instructions_where_both_are_counted() {
        let native = counted(&[("perf.instructions", 5e9), ("perf.dtlb_load_misses", 18e6)]);
        let native = CountedTrial { host: Ok(native), ..trial(100.0) };
        let guest = counted(&[
            ("perf.instructions", 4e9),
            ("perf.dtlb_load_misses", 16.8e6),
            ("perf.vcpus.instructions.guest", 2e9),
            ("perf.vcpus.itlb_load_misses.guest", 1e6),
            ("perf.vcpus.dtlb_load_misses.host", 1e6),
        ]);
        let guest = CountedTrial { host: Ok(guest), ..trial(90.0) };
        assert_eq!(found(&native, &["tlb"]), named(&[("tlb.data/host", 3.6)]));
        assert_eq!(found(&guest, &["tlb"]), named(&[("tlb.data/host", 4.2), ("tlb.instructions/vcpus", 0.5)]));
        for columns in
            [&[("perf.dtlb_load_misses", 5.0)][..], &[("perf.dtlb_load_misses", 5.0), ("perf.instructions", 0.0)]]
        {
            assert_eq!(found(&CountedTrial { host: Ok(counted(columns)), ..trial(1.0) }, &["tlb"]), []);
        }
    }

    /// 80 % native and 48.5 % in a guest, as in a published study.
    #[test]
    fn local_accesses_are_known_where_the_host_has_several_nodes() {
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
        let families = ["memory", "vcpus"];
        let guest = of(0.515e6, &[("vcpu.0.migrations", 30.0), ("vcpu.1.migrations", 10.0)]);
        let pages = [("memory.local_pages", 0.8), ("memory.moved_pages", 5.0)];
        let expected =
            |loads, more: &[(&str, f64)]| named(&[&[("memory.local_loads", loads)], &pages[..], more].concat());
        assert_eq!(found(&of(0.2e6, &[]), &families), expected(0.8, &[]));
        assert_eq!(found(&guest, &families), expected(0.485, &[("vcpus.migrations", 4.0)]));
        let mut of_one_node = guest;
        of_one_node.host.as_mut().unwrap().columns.retain(|name, _| !name.contains("node1"));
        assert_eq!(found(&of_one_node, &families), named(&[("vcpus.migrations", 4.0)]));
    }

    /// A native machine is one family of processes; a guest is its vCPUs, its I/O threads and the rest of its hypervisor.
    #[test]
    fn the_host_counts_all_cpu_time_of_a_machine() {
        let inside = counted(&[
            ("cpu.user", 300.0),
            ("cpu.nice", 0.0),
            ("cpu.system", 80.0),
            ("cpu.steal", 20.0),
            ("cpu.idle", 600.0),
        ]);
        let native = counted(&[("machine.run", 500.0), ("energy.package-0", 3e6), ("energy.package-0_dram", 1e6)]);
        let native = CountedTrial { host: Ok(native), machine: Ok(inside.clone()), ..trial(100.0) };
        let expected = [("work.cpu_on_host", 5.0), ("work.cpu_inside", 3.8), ("work.energy", 0.03)];
        assert_eq!(found(&native, &["work"]), named(&expected));
        let guest = [("vcpu.0.run", 300.0), ("vcpu.1.run", 200.0), ("io.disk.run", 40.0), ("emulator.run", 60.0)];
        let guest = CountedTrial { host: Ok(counted(&guest)), machine: Ok(inside), ..trial(100.0) };
        assert_eq!(found(&guest, &["work.cpu"]), named(&[("work.cpu_on_host", 6.0), ("work.cpu_inside", 3.8)]));
        let shares = [("machine.cpus_busy", 0.4), ("machine.cpus_waiting", 0.0), ("machine.cpus_stolen", 0.02)];
        assert_eq!(found(&guest, &["machine.cpus"]), named(&shares));
    }
}
