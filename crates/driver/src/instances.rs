//! Several databases of one machine, driven at once. Each has a load engine of its own with its share of the load. All
//! start each phase at one moment, and look like one machine from outside.

use crate::clock::{Clock, MonotonicClock, Nanos};
use crate::endpoint::drive_endpoint;
use crate::error::DriveError;
use crate::plan::{
    Control, DrivePlan, Driven, Generator, OF_THE_LOAD, PhaseLimit, SeenProgress, Tick, Together, UserStream,
};
use engines::server::Endpoint;
use rustix::thread::sched_getaffinity;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;
use workloads::catalog::AnyOf;

/// Time between the moment when all could start and their start: enough to reach each of them.
const START_LEAD: Nanos = Nanos::from_millis(50);
/// How often to check whether the start has been set or a stop requested.
const POLL: Duration = Duration::from_millis(5);
/// After this long, a second is reported even if not all have reported it: one may be at the end of its phase.
const LATE_MS: u64 = 2_000;
/// Gives each further instance another seed. (2^64 divided by the square root of 3.)
const SEED_OF_INSTANCE: u64 = 0x93CD_3A2C_8198_E269;

/// The share of a load that one of `of` databases gets. Its users or arrivals do other things than those of the others. Users
/// that a workload paces itself work on each database, and so do the streams of phases that end with their work, unless the load
/// counts their transactions.
pub fn share_of(plan: &DrivePlan, instance: u16, of: u16) -> DrivePlan {
    let share = Generator { number: instance.into(), of: of.into() };
    let mut own = plan.clone();
    own.seed = plan.seed.wrapping_add(u64::from(instance).wrapping_mul(SEED_OF_INSTANCE));
    for phase in &mut own.phases {
        let is_timed = matches!(phase.until, PhaseLimit::Time { .. });
        let of_the_load =
            |stream: &&mut UserStream| stream.actor == OF_THE_LOAD && (is_timed || stream.transactions.is_some());
        phase.streams.iter_mut().filter(of_the_load).for_each(|stream| {
            stream.transactions = stream.transactions.map(|count| share.of_count(count));
            stream.pacing = share.of_pacing(stream.pacing);
            stream.ramp_per_s = stream.ramp_per_s.map(|rate| rate / f64::from(share.of));
        });
    }
    if plan.shards > 0 {
        own.shards = (plan.shards / u32::from(of)).max(1);
    }
    own
}

/// Like [`drive_endpoint`] for several databases at once; results are in their order. What is seen carries its
/// instance's number; ticks are sums over all, with number 0. If one fails, the others stop and its error is returned.
pub fn drive_all(
    workload: &(impl AnyOf + Sync),
    databases: &[(Endpoint, DrivePlan)],
    control: &Control,
    see: &mut dyn FnMut(u16, SeenProgress),
) -> Result<Vec<Driven>, DriveError> {
    if let [(endpoint, plan)] = databases {
        return Ok(vec![drive_endpoint(workload, endpoint, plan, control, &mut |seen| see(0, seen))?]);
    }
    let waits_for_others = databases.iter().any(|(_, plan)| plan.together.is_some());
    let controls: Vec<Control> = databases.iter().map(|_| Control::default()).collect();
    let shards = shards_each(databases.len());
    let (send, inbox) = channel();
    let results: Vec<_> = thread::scope(|scope| {
        let mut threads = Vec::with_capacity(databases.len());
        for (((endpoint, plan), control), instance) in databases.iter().zip(&controls).zip(0..) {
            let over = OverReport { instance, failed: true, send: send.clone() };
            let shards = if plan.shards == 0 { shards } else { plan.shards };
            let together = plan.together.or(Some(Together { tail_s: 0 }));
            let plan = DrivePlan { shards, together, ..plan.clone() };
            threads
                .push(scope.spawn(move || over.after(|tell| drive_endpoint(workload, endpoint, &plan, control, tell))));
        }
        Starter { controls: &controls, control, waits_for_others }.until_over(&inbox, see);
        let join = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.into_iter().map(join).collect()
    });
    // Those that were stopped because another failed end without an error.
    let of_instance = |(number, driven): (usize, Result<Driven, DriveError>)| {
        driven.map_err(|source| DriveError::OfInstance { number, source: Box::new(source) })
    };
    (1..).zip(results).map(of_instance).collect()
}

/// One thread for each CPU, divided among this many load engines.
fn shards_each(engines: usize) -> u32 {
    let cpus = sched_getaffinity(None).map_or(1, |cpus| cpus.count());
    u32::try_from(engines).map_or(1, |engines| (cpus / engines.max(1)).max(1))
}

enum InstanceNote {
    Seen(SeenProgress),
    /// This instance is over; `failed` says whether it failed.
    Over {
        failed: bool,
    },
}

/// Reports that an instance is over, even if its thread panics. After a panic the others must not go on either.
struct OverReport {
    instance: u16,
    failed: bool,
    send: Sender<(u16, InstanceNote)>,
}

impl OverReport {
    fn after(
        mut self,
        drive: impl FnOnce(&mut dyn FnMut(SeenProgress)) -> Result<Driven, DriveError>,
    ) -> Result<Driven, DriveError> {
        let Self { instance, send, .. } = &self;
        let driven = drive(&mut |seen| {
            // The receiver listens until all are over.
            let _ = send.send((*instance, InstanceNote::Seen(seen)));
        });
        self.failed = driven.as_ref().map_or(true, |driven| driven.broke_off.is_some());
        driven
    }
}

impl Drop for OverReport {
    fn drop(&mut self) {
        let _ = self.send.send((self.instance, InstanceNote::Over { failed: self.failed }));
    }
}

/// Starts all at one moment, and stops all.
struct Starter<'a> {
    controls: &'a [Control],
    control: &'a Control,
    /// The start is set from outside, because other machines are driven, too.
    waits_for_others: bool,
}

impl Starter<'_> {
    fn until_over(&self, inbox: &Receiver<(u16, InstanceNote)>, see: &mut dyn FnMut(u16, SeenProgress)) {
        let mut going = self.controls.len();
        let (mut ready, mut is_awaited) = (0, false);
        let mut ticks = MergedTicks::of(going);
        while going > 0 {
            match inbox.recv_timeout(POLL) {
                Ok((_, InstanceNote::Seen(SeenProgress::Ready))) => ready += 1,
                Ok((_, InstanceNote::Seen(SeenProgress::Tick(tick)))) => {
                    ticks.hear(tick).into_iter().for_each(|tick| see(0, SeenProgress::Tick(tick)));
                }
                Ok((instance, InstanceNote::Seen(seen))) => see(instance, seen),
                Ok((_, InstanceNote::Over { failed })) => {
                    going -= 1;
                    if failed {
                        self.stop();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.control.is_stopped() {
                self.stop();
            }
            if ready > 0 && ready == going && !is_awaited {
                is_awaited = true;
                ticks.rest().into_iter().for_each(|tick| see(0, SeenProgress::Tick(tick)));
                see(0, SeenProgress::Ready);
            }
            if is_awaited && self.start() {
                (ready, is_awaited) = (0, false);
            }
        }
        ticks.rest().into_iter().for_each(|tick| see(0, SeenProgress::Tick(tick)));
    }

    /// Starts all once the start has been set; returns whether it has.
    fn start(&self) -> bool {
        let soonest = MonotonicClock.now() + START_LEAD;
        let told = if self.waits_for_others { self.control.take_start() } else { Some(soonest.0) };
        if let Some(at_ns) = told {
            self.controls.iter().for_each(|control| control.start_at(at_ns.max(soonest.0)));
        }
        told.is_some()
    }

    fn stop(&self) {
        self.controls.iter().for_each(Control::stop);
    }
}

/// Merges the ticks of several databases, second by second.
#[derive(Debug)]
pub struct MergedTicks {
    of: usize,
    seconds: BTreeMap<u64, (usize, Tick)>,
}

impl MergedTicks {
    pub fn of(parts: usize) -> Self {
        Self { of: parts, seconds: BTreeMap::new() }
    }

    /// Takes in a tick; returns what is to be reported now, in order.
    pub fn hear(&mut self, tick: Tick) -> Vec<Tick> {
        let Tick { elapsed_ms, measured, .. } = tick;
        let none = Tick { elapsed_ms, measured, counted: 0, committed: 0, errors: 0 };
        let (heard, sum) = self.seconds.entry(elapsed_ms).or_insert((0, none));
        *heard += 1;
        sum.counted += tick.counted;
        sum.committed += tick.committed;
        sum.errors += tick.errors;
        let of = self.of;
        let is_told = |second: u64, heard: usize| heard == of || second + LATE_MS < elapsed_ms;
        let ready = self.seconds.iter().filter(|(second, (heard, _))| is_told(**second, *heard));
        let ready: Vec<u64> = ready.map(|(second, _)| *second).collect();
        ready.into_iter().filter_map(|second| Some(self.seconds.remove(&second)?.1)).collect()
    }

    /// What is left when nothing more is to come: seconds in which not all were driven.
    pub fn rest(&mut self) -> Vec<Tick> {
        std::mem::take(&mut self.seconds).into_values().map(|(_, tick)| tick).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{ArrivalProcess, Pacing, UserStream};

    fn second(elapsed_ms: u64, counted: u64) -> Tick {
        Tick { elapsed_ms, measured: true, counted, committed: counted, errors: 1 }
    }

    #[test]
    fn a_second_is_told_once_with_what_all_did() {
        let mut ticks = MergedTicks::of(3);
        assert_eq!(ticks.hear(second(1_000, 5)), []);
        assert_eq!(ticks.hear(second(2_000, 7)), []);
        assert_eq!(ticks.hear(second(1_000, 6)), []);
        assert_eq!(ticks.hear(second(1_000, 1)), [Tick { errors: 3, ..second(1_000, 12) }]);
        assert_eq!(ticks.hear(second(5_000, 1)), [second(2_000, 7)], "one that is late is not waited for any longer");
        assert_eq!((ticks.rest(), ticks.rest()), (vec![second(5_000, 1)], vec![]));
    }

    #[test]
    fn the_shares_of_all_are_the_load() {
        let pacings = [
            Pacing::Clients { clients: 7 },
            Pacing::Terminals { terminals: 100, sessions: 8 },
            Pacing::Arrivals { per_second: 90.0, process: ArrivalProcess::Poisson, sessions: 6 },
        ];
        for pacing in pacings {
            let mut plan = DrivePlan { shards: 4, ..DrivePlan::timed(pacing, 0, 1_000, 1) };
            let of_each = UserStream::of(1, Pacing::Clients { clients: 1 });
            plan.phases[0].streams.push(of_each);
            let shares: Vec<DrivePlan> = (0..3).map(|instance| share_of(&plan, instance, 3)).collect();
            assert!(
                shares.iter().all(|share| share.phases[0].streams[1] == of_each),
                "the workload's own is not shared"
            );
            let own = |share: &DrivePlan| share.phases[0].streams[0].pacing;
            let users: u32 = shares.iter().map(|share| own(share).clients()).sum();
            let sessions: u32 = shares.iter().map(|share| own(share).sessions()).sum();
            assert_eq!((users, sessions), (pacing.clients(), pacing.sessions()));
            assert_eq!(shares[0].seed, plan.seed, "the first does what one that is alone would");
            assert!(shares[1].seed != shares[2].seed && shares.iter().all(|share| share.shards == 1));
        }
        let mut counted = DrivePlan::timed(Pacing::Clients { clients: 7 }, 0, 1_000, 1);
        counted.phases[0].until = PhaseLimit::StreamsEnd { limit_ms: 1_000 };
        counted.phases[0].streams[0].transactions = Some(20);
        let shares = [0, 1, 2].map(|instance| share_of(&counted, instance, 3).phases[0].streams[0]);
        assert_eq!(shares.map(|stream| stream.transactions), [Some(7), Some(7), Some(6)]);
        assert_eq!(shares.map(|stream| stream.pacing.clients()), [3, 2, 2]);
    }
}
