//! The events, and the count of one event over several CPUs or threads.
//!
//! User and kernel mode are always counted together. Dropping a count closes its files.

use super::estimated::{Estimated, KernelCount, permille};
use perf_event::events::{Cache, CacheOp, CacheResult, Event as Kind, Hardware, WhichCache};
use perf_event::{Builder, Counter};
use std::io;

/// An event with the name of its column.
pub struct PerfEvent {
    pub name: &'static str,
    pub kind: Kind,
}

/// In the order in which they get files.
pub const OF_CPUS: &[PerfEvent] = &[
    PerfEvent { name: "instructions", kind: Kind::Hardware(Hardware::INSTRUCTIONS) },
    PerfEvent { name: "dtlb_load_misses", kind: load(WhichCache::DTLB, CacheResult::MISS) },
    PerfEvent { name: "itlb_load_misses", kind: load(WhichCache::ITLB, CacheResult::MISS) },
    PerfEvent { name: "cycles", kind: Kind::Hardware(Hardware::CPU_CYCLES) },
    // Where memory is read from, which `numa_allocation` does not show.
    PerfEvent { name: "node_loads", kind: load(WhichCache::NODE, CacheResult::ACCESS) },
    PerfEvent { name: "node_load_misses", kind: load(WhichCache::NODE, CacheResult::MISS) },
];

/// Only a few, because each is counted in two modes, and events beyond the processor's counters take turns.
pub const OF_VCPUS: &[PerfEvent] = &[
    PerfEvent { name: "instructions", kind: Kind::Hardware(Hardware::INSTRUCTIONS) },
    PerfEvent { name: "dtlb_load_misses", kind: load(WhichCache::DTLB, CacheResult::MISS) },
    PerfEvent { name: "itlb_load_misses", kind: load(WhichCache::ITLB, CacheResult::MISS) },
    PerfEvent { name: "cycles", kind: Kind::Hardware(Hardware::CPU_CYCLES) },
];

const fn load(which: WhichCache, result: CacheResult) -> Kind {
    Kind::Cache(Cache { which, operation: CacheOp::READ, result })
}

/// The CPU or thread that an event is counted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Everything that runs on this CPU.
    Cpu(u32),
    Thread(u32),
}

/// Whether to count a guest's instructions, the host's own, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    All,
    Guest,
    Host,
}

impl Mode {
    pub fn suffix(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Guest => ".guest",
            Self::Host => ".host",
        }
    }
}

/// One event, with a file for each CPU or thread.
pub struct Counting {
    parts: Vec<(Counter, Estimated)>,
    /// The wanted and the counted time at the last reading, summed over all parts.
    last_ns: (u64, u64),
}

/// The result of one reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventReading {
    /// Number of events since it was opened; `None` if a part never had a turn.
    pub estimate: Option<u64>,
    /// Share of time counted since the last reading.
    pub counted_permille: u64,
}

impl Counting {
    pub fn open(event: &PerfEvent, whose: &[Whose], mode: Mode) -> io::Result<Self> {
        let parts = whose.iter().map(|whose| Ok((start(&event.kind, *whose, mode)?, Estimated::default())));
        Ok(Self { parts: parts.collect::<io::Result<_>>()?, last_ns: (0, 0) })
    }

    pub fn read(&mut self) -> io::Result<EventReading> {
        for (counter, estimated) in &mut self.parts {
            let told = counter.read_count_and_time()?;
            estimated.add(KernelCount {
                count: told.count,
                wanted_ns: told.time_enabled,
                counted_ns: told.time_running,
            });
        }
        let sum = |of: fn(&Estimated) -> u64| super::super::fields::total(self.parts.iter().map(|(_, part)| of(part)));
        let now_ns = (sum(|part| part.latest().wanted_ns), sum(|part| part.latest().counted_ns));
        let (wanted_ns, counted_ns) = self.last_ns;
        self.last_ns = now_ns;
        let is_first = wanted_ns == 0;
        // The first reading follows right after opening, so some may not have had their first turn yet.
        let is_known = is_first || !self.parts.iter().any(|(_, part)| part.is_unknown());
        Ok(EventReading {
            estimate: is_known.then(|| sum(Estimated::sum)),
            counted_permille: permille(now_ns.0.saturating_sub(wanted_ns), now_ns.1.saturating_sub(counted_ns)),
        })
    }
}

fn start(kind: &Kind, whose: Whose, mode: Mode) -> io::Result<Counter> {
    let builder = Builder::new().kind(kind.clone());
    let mut builder = match whose {
        Whose::Cpu(cpu) => builder.any_pid().one_cpu(cpu as usize),
        Whose::Thread(thread) => builder.observe_pid(i32::try_from(thread).map_err(io::Error::other)?).any_cpu(),
    };
    builder.include_kernel().include_hv();
    builder.exclude_host(mode == Mode::Guest).exclude_guest(mode == Mode::Host);
    let mut counter = builder.build()?;
    counter.enable()?;
    Ok(counter)
}
