//! A shard on a virtual clock, with sessions whose service times a test decides. Every run is the same, and a second
//! of it takes no real time.

mod deferral;
mod failures;
mod known_times;
mod merging;
mod pacing;
mod phases;
mod sockets;
mod threads;
mod times;
pub mod workload;

use crate::assignment::Assignment;
use crate::clock::{Clock, Nanos, Turns};
use crate::counts::SparseCounts;
use crate::error::DriveError;
use crate::merge::{Gathering, Names};
use crate::plan::{Control, DrivePlan, Driven, Pacing};
use crate::recorder::Second;
use crate::report::ShardReport;
use crate::run;
use crate::sessions::{self, SessionList};
use crate::shard::Surroundings;
use crate::signals::{RunningTotals, Signals};
use crate::slice::Slice;
use crate::virtual_time::world::{self, World, WorldAnswer, WorldCall};
use crate::window::Window;
use engines::session::SessionError;
use record::intervals::Measured;
use record::trial::Stalls;
use std::cell::RefCell;
use std::ops::Deref;
use workload::{COUNTERS, KINDS, RehearsedWorkload};
use workloads::workload::Workload as _;

/// All virtual runs start at this moment, which is deliberately not a whole second of the clock.
pub const START: Nanos = Nanos::from_millis(10_300);

pub fn plan(clients: u32, warmup_s: u64, measure_s: u64) -> DrivePlan {
    paced(Pacing::Clients { clients }, warmup_s, measure_s)
}

pub fn paced(pacing: Pacing, warmup_s: u64, measure_s: u64) -> DrivePlan {
    let plan = DrivePlan::timed(pacing, warmup_s * 1_000, measure_s * 1_000, 7);
    DrivePlan { shards: 1, retries: 3, away_limit_ms: 30_000, ..plan }
}

/// The window of the plan's only phase.
pub fn window(plan: &DrivePlan) -> Window {
    Window::of(&plan.phases[0], plan, START, START)
}

/// Tests count moments from the start of driving.
pub fn since_start(call: &WorldCall) -> Nanos {
    call.now.since(START)
}

pub fn answers_after(millis: u64) -> WorldAnswer {
    WorldAnswer::After(Nanos::from_millis(millis))
}

pub fn retryable() -> WorldAnswer {
    WorldAnswer::Fail(SessionError::Retryable { code: "40001".to_owned(), message: "conflict".to_owned() })
}

pub fn lost() -> WorldAnswer {
    WorldAnswer::Fail(SessionError::Lost(std::io::ErrorKind::ConnectionReset.into()))
}

/// A run with the given plan, whose sessions answer as `script` says.
pub struct RehearsalRun<'a> {
    pub workload: &'a RehearsedWorkload,
    pub plan: DrivePlan,
    pub in_process: bool,
    pub stop: &'a Control,
    /// How long each reading of the clock takes the driver.
    pub toil: Nanos,
}

impl<'a> RehearsalRun<'a> {
    pub fn new(workload: &'a RehearsedWorkload, plan: DrivePlan, in_process: bool, stop: &'a Control) -> Self {
        Self { workload, plan, in_process, stop, toil: Nanos::ZERO }
    }

    pub fn shard(
        &self,
        share: Slice,
        script: impl Fn(&WorldCall) -> WorldAnswer + 'static,
    ) -> Result<ShardRun, DriveError> {
        let world = World::new(self.in_process, Box::new(script));
        let clock = SlowClock { world: &world, toil: self.toil };
        let signals = Signals::new(self.stop, self.workload.actors().len());
        let session_list = SessionList::of(self.workload.actors(), share, &self.plan);
        let mut opened = sessions::open(&world, &world, &session_list, || false)?;
        let (published, seconds) = (RunningTotals::default(), RefCell::new(Vec::new()));
        let around = Surroundings::<(RehearsedWorkload, World, SlowClock<'_>, World)> {
            connect: &world,
            opener: Some(&world),
            clock: &clock,
            reactor: &world,
            signals: &signals,
            published: &published,
            hand_on: &|second| seconds.borrow_mut().push(second),
            mailbox: None,
        };
        signals.begin_phase(1, &self.plan.phases[0], &self.plan);
        let assignment = Assignment::of(self.workload, &self.plan, 0, share, window(&self.plan)).unwrap();
        let report = run::run(&around, &assignment, &mut opened)?;
        Ok(ShardRun { report, seconds: seconds.into_inner() })
    }

    /// Drives all clients in one shard.
    pub fn alone(&self, script: impl Fn(&WorldCall) -> WorldAnswer + 'static) -> ShardRun {
        self.shard(Slice { shard: 0, of: 1 }, script).unwrap()
    }

    pub fn merged(&self, shards: Vec<ShardRun>) -> Merged {
        merged(&self.plan, shards)
    }
}

/// A clock that takes this long for each reading.
struct SlowClock<'a> {
    world: &'a World,
    toil: Nanos,
}

impl Clock for SlowClock<'_> {
    fn now(&self) -> Nanos {
        let now = self.world.now();
        self.world.pass_until(now + self.toil);
        now
    }

    fn thread_cpu(&self) -> Nanos {
        Nanos::ZERO
    }

    fn thread_turns(&self) -> Option<Turns> {
        None
    }
}

/// A shard's report at the end, and the seconds that it handed on before.
#[derive(Debug)]
pub struct ShardRun {
    pub report: ShardReport,
    pub seconds: Vec<Second>,
}

impl Deref for ShardRun {
    type Target = ShardReport;

    fn deref(&self) -> &ShardReport {
        &self.report
    }
}

/// The result of driving, and the seconds that were seen on the way.
pub struct Merged {
    pub driven: Driven,
    pub measured: Measured,
}

impl Deref for Merged {
    type Target = Driven;

    fn deref(&self) -> &Driven {
        &self.driven
    }
}

pub fn merged(plan: &DrivePlan, shards: Vec<ShardRun>) -> Merged {
    let names = Names { kinds: &KINDS, counters: COUNTERS };
    let mut gathering = Gathering::new(names, window(plan), shards.len());
    let (mut reports, mut seen) = (Vec::new(), Vec::new());
    for (ShardRun { report, seconds }, shard) in shards.into_iter().zip(0..) {
        reports.push(report);
        seen.extend(seconds.into_iter().filter_map(|second| gathering.take(shard, second)));
    }
    let kinds = KINDS.map(|kind| kind.name.to_owned()).to_vec();
    let measured = Measured { kinds, intervals: seen.into_iter().map(|seen| seen.interval).collect() };
    Merged { driven: gathering.conclude(plan.generator, &plan.phases[0], reports, Stalls::default()), measured }
}

pub fn count_at_least(counts: &SparseCounts, millis: u64) -> u64 {
    counts.iter().filter(|(micros, _)| *micros >= millis * 1_000).map(|(_, count)| u64::from(*count)).sum()
}
