//! Load from other hosts: an agent on each drives its share of the users of every database, and all start at one moment.
//!
//! The start is a moment of this host's clock, and each agent gets that moment by its own. So the network has no part
//! in how far apart they start; the error of the clocks' offsets has, and is recorded.

use crate::asking::BootedMachine;
use crate::conversation::{AskError, Conversation, mismatch};
use crate::error::StepResult;
use crate::exception::TAIL_S;
use crate::generators::{GeneratorTerms, Generators, RunningGenerator, of_host};
use crate::halt::Halt;
use crate::live::LiveDriving;
use crate::rendezvous::Rendezvous;
use agent::looks::LookWatch;
use agent::protocol::{Reply, Request};
use driver::combine;
use driver::instances::MergedTicks;
use driver::plan::{DrivePlan, Driven, Generator as Share, Tick, Together};
use machines::link::AgentLink;
use machines::machine::Machine;
use record::clock::{AFTER_DRIVING, BEFORE_DRIVING};
use record::intervals::Interval;
use settings::Chosen;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How often to check whether the trial is given up.
const LOOK_UP: Duration = Duration::from_millis(100);
/// The start is this many of the slowest round trips away, so that all agents know it in time.
const ROUND_TRIPS_AHEAD: u64 = 10;

/// What an agent says while it drives.
enum AgentMessage {
    Ready,
    Tick(Tick),
    Second(u16, Interval),
}

/// The share of one load host, and the way to it.
struct Driving<'a> {
    terms: GeneratorTerms<'a>,
    workload: &'a Chosen,
    plans: Vec<DrivePlan>,
    offset_ns: i64,
    /// The longest time between two messages.
    silence: Duration,
    /// Each start, by this host's clock.
    starts: Receiver<u64>,
    say: Sender<AgentMessage>,
}

impl Driving<'_> {
    /// Drives to the end; the other hosts stop if that fails.
    fn carry_out(self, machine: &mut dyn Machine, group: &Rendezvous) -> Result<Vec<Driven>, AskError> {
        let driven = self.drive(machine.link());
        if driven.is_err() {
            group.give_up();
        }
        driven
    }

    fn drive(self, link: &mut AgentLink) -> Result<Vec<Driven>, AskError> {
        let Self { terms: GeneratorTerms { halt, limits }, workload, plans, offset_ns, silence, starts, say } = self;
        let (databases, is_together) = (plans.len(), is_together(&plans));
        let request = Request::Drive { workload: workload.clone(), plans };
        let mut hear = |instance, aside, link: &mut AgentLink| {
            let said = match aside {
                Reply::Ready => AgentMessage::Ready,
                Reply::Tick(tick) => AgentMessage::Tick(tick),
                Reply::Interval(interval) => AgentMessage::Second(instance, interval),
                _ => return Ok(()),
            };
            let awaits_start = is_together && matches!(said, AgentMessage::Ready);
            // The receiver listens until all have ended.
            let _ = say.send(said);
            if awaits_start {
                let start_ns = await_start(&starts, halt)?;
                link.add(&Request::StartDriving { at_ns: start_ns.saturating_add_signed(offset_ns) })?;
            }
            Ok(())
        };
        let mut conversation = Conversation { link, halt, limits, instance: 0 };
        match conversation.ask_and_answer(&request, limits.opening, silence, &mut hear)? {
            Reply::Driven(driven) if driven.len() == databases => Ok(driven),
            other => Err(mismatch("drive", &other)),
        }
    }
}

/// What is heard of all load hosts while they drive.
struct Hearing {
    watches: Vec<LookWatch>,
    ticks: MergedTicks,
    seconds: MergedSeconds,
    /// Whether they wait for a common start.
    is_together: bool,
    /// How far away a start must be for all to know it in time.
    lead_ns: u64,
    /// The first start, by this host's clock.
    began_ns: Option<u64>,
}

impl Hearing {
    /// All hosts have plans of the same form.
    fn of(generators: &[RunningGenerator], plans: &[DrivePlan]) -> Self {
        let of = generators.len();
        let round_trips = generators.iter().map(RunningGenerator::round_trip_ns);
        Self {
            watches: plans.iter().map(LookWatch::over).collect(),
            ticks: MergedTicks::of(of),
            seconds: MergedSeconds { of, open: BTreeMap::new() },
            is_together: is_together(plans),
            lead_ns: round_trips.max().unwrap_or(0).saturating_mul(ROUND_TRIPS_AHEAD),
            began_ns: None,
        }
    }

    fn start(&mut self, start_ns: u64, starts: &[Sender<u64>]) {
        self.began_ns.get_or_insert(start_ns);
        // A host that has ended needs no start.
        for start in starts {
            let _ = start.send(start_ns);
        }
    }
}

/// Each host's plans: its share of the users of each database. Several start together.
fn shares(plans: &[DrivePlan], hosts: usize) -> Vec<Vec<DrivePlan>> {
    let of = u32::try_from(hosts).unwrap_or(u32::MAX);
    let together = (of > 1).then_some(Together { tail_s: TAIL_S });
    let share = |number| {
        let own = |plan: &DrivePlan| DrivePlan {
            generator: Share { number, of },
            together: plan.together.or(together),
            ..plan.clone()
        };
        plans.iter().map(own).collect()
    };
    (0..of).map(share).collect()
}

/// Whether these wait for a start.
fn is_together(plans: &[DrivePlan]) -> bool {
    plans.iter().any(|plan| plan.together.is_some())
}

/// The results for each database, as if one load generator had driven it.
fn together(generators: &[RunningGenerator]) -> Vec<Driven> {
    let databases = generators.first().map_or(0, |generator| generator.parts.len());
    let of = |database: usize| {
        let parts = generators.iter().filter_map(|generator| generator.parts.get(database).cloned());
        combine::together(parts.collect())
    };
    (0..databases).filter_map(of).collect()
}

/// Waits until the start is known, or driving is given up.
fn await_start(starts: &Receiver<u64>, halt: Halt<'_>) -> Result<u64, AskError> {
    loop {
        match starts.recv_timeout(LOOK_UP) {
            Ok(start_ns) => return Ok(start_ns),
            Err(RecvTimeoutError::Timeout) if !halt.now() => {}
            Err(_) => return Err(AskError::halted(halt)),
        }
    }
}

/// Puts together the seconds of several load hosts.
struct MergedSeconds {
    of: usize,
    /// By database and begin: how many hosts have sent it, and the sum of what they sent.
    open: BTreeMap<(u16, u64), (usize, Interval)>,
}

impl MergedSeconds {
    /// Takes in a second of one host; returns it once all have sent theirs. Each sends its seconds in order.
    fn hear(&mut self, instance: u16, second: Interval) -> Option<Interval> {
        let key = (instance, second.start_ms);
        let (heard, sum) = match self.open.remove(&key) {
            Some((heard, mut sum)) => {
                sum.add(&second);
                (heard + 1, sum)
            }
            None => (1, second),
        };
        if heard == self.of {
            return Some(sum);
        }
        self.open.insert(key, (heard, sum));
        None
    }

    /// Seconds in which not all hosts were driven.
    fn rest(&mut self) -> impl Iterator<Item = (u16, Interval)> + use<> {
        std::mem::take(&mut self.open).into_iter().map(|((instance, _), (_, sum))| (instance, sum))
    }
}

/// Drives every database from all load hosts; one plan for each database. The start is sent by clocks that were read just
/// before, and a host that drove wrong is found out, also in a climb.
pub(crate) fn drive(
    live: &mut LiveDriving<'_, '_>,
    booted: &mut BootedMachine<'_>,
    generators: &mut Generators<'_>,
    plans: &[DrivePlan],
    of_database: Option<&str>,
) -> StepResult<Vec<Driven>> {
    generators.read_clocks(&live.context, BEFORE_DRIVING)?;
    let driven = drive_by(live, booted, &mut generators.each, plans, of_database)?;
    generators.read_clocks(&live.context, AFTER_DRIVING)?;
    generators.judge(live.log.phase());
    Ok(driven)
}

fn drive_by(
    live: &mut LiveDriving<'_, '_>,
    booted: &mut BootedMachine<'_>,
    generators: &mut [RunningGenerator],
    plans: &[DrivePlan],
    of_database: Option<&str>,
) -> StepResult<Vec<Driven>> {
    let plans = shares(plans, generators.len());
    let group = Rendezvous::of(1);
    let (workload, halt, limits) = (&live.context.data().workload.chosen, live.context.halt, live.context.limits());
    let terms = GeneratorTerms { halt: Halt { others: Some(&group), ..halt }, limits };
    let silence = limits.driving + live.context.start_delay();
    let (say, heard) = channel();
    let mut hearing = Hearing::of(generators, &plans[0]);
    let driven = thread::scope(|scope| {
        let (mut threads, mut starts) = (Vec::new(), Vec::new());
        for (generator, plans) in generators.iter_mut().zip(plans) {
            let (start, awaited) = channel();
            let (offset_ns, say) = (generator.offset_ns(), say.clone());
            let driving = Driving { terms, workload, plans, offset_ns, silence, starts: awaited, say };
            let group = &group;
            threads.push(scope.spawn(move || driving.carry_out(generator.machine.as_mut(), group)));
            starts.push(start);
        }
        drop(say);
        hear(live, booted, &mut hearing, &heard, &starts, &group);
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.into_iter().map(join).collect::<Vec<_>>()
    });
    if halt.now() {
        return Err(AskError::halted(halt).into());
    }
    for (instance, watch) in (0..).zip(hearing.watches) {
        live.keep_looks(instance, watch.looks());
    }
    let mut failed = None;
    for (generator, driven) in generators.iter_mut().zip(driven) {
        match driven {
            Ok(parts) => {
                generator.keep(parts, hearing.began_ns);
                generator.note_whose_cpus(of_database);
            }
            // The cause is with another host.
            Err(AskError::OthersFailed) => {}
            Err(error) => failed = failed.or(Some(of_host(&generator.host, error.into()))),
        }
    }
    failed.map_or_else(|| Ok(together(generators)), Err)
}

/// Keeps what the load hosts say until all of them have ended, and sends them their start.
fn hear(
    live: &mut LiveDriving<'_, '_>,
    booted: &mut BootedMachine<'_>,
    hearing: &mut Hearing,
    heard: &Receiver<AgentMessage>,
    starts: &[Sender<u64>],
    group: &Rendezvous,
) {
    let mut ready = 0;
    loop {
        match heard.recv_timeout(LOOK_UP) {
            Ok(AgentMessage::Ready) if hearing.is_together => {
                ready += 1;
                if ready == starts.len() {
                    ready = 0;
                    match live.meet_for_start(hearing.lead_ns) {
                        Ok(start_ns) => hearing.start(start_ns, starts),
                        Err(_) => group.give_up(),
                    }
                }
            }
            Ok(AgentMessage::Ready) | Err(RecvTimeoutError::Timeout) => {}
            Ok(AgentMessage::Tick(tick)) => {
                for tick in hearing.ticks.hear(tick) {
                    live.look_and_tick(booted, &mut hearing.watches, &tick);
                }
            }
            Ok(AgentMessage::Second(instance, second)) => {
                if let Some(second) = hearing.seconds.hear(instance, second) {
                    live.keep(instance, &second);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if live.context.halt.now() {
            group.give_up();
        }
    }
    for (instance, second) in hearing.seconds.rest() {
        live.keep(instance, &second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::plan::Pacing;
    use record::intervals::{KindInterval, Span};

    fn second(start_ms: u64, counts: &[(u64, u32)]) -> Interval {
        let kinds = vec![KindInterval { kind: 0, span: Span::Response, counts: counts.to_vec() }];
        Interval { start_ms, length_ms: 1_000, measured: true, kinds }
    }

    #[test]
    fn a_second_is_whole_once_all_hosts_have_sent_it() {
        let mut merged = MergedSeconds { of: 2, open: BTreeMap::new() };
        assert_eq!(merged.hear(0, second(0, &[(5, 1)])), None);
        assert_eq!(merged.hear(1, second(0, &[(7, 1)])), None, "another database");
        assert_eq!(merged.hear(0, second(1_000, &[(9, 1)])), None);
        let whole = second(0, &[(5, 1), (6, 2)]);
        assert_eq!(merged.hear(0, second(0, &[(6, 2)])), Some(whole));
        let rest: Vec<_> = merged.rest().collect();
        assert_eq!(rest, [(0, second(1_000, &[(9, 1)])), (1, second(0, &[(7, 1)]))]);
    }

    #[test]
    fn hosts_share_all_users_and_start_together_only_if_there_are_several() {
        let plan = DrivePlan::timed(Pacing::Clients { clients: 5 }, 0, 1_000, 1);
        let of_three = shares(std::slice::from_ref(&plan), 3);
        let clients = |own: &Vec<DrivePlan>| own[0].generator.of_pacing(own[0].phases[0].streams[0].pacing).clients();
        assert_eq!(of_three.iter().map(clients).collect::<Vec<_>>(), [2, 2, 1]);
        assert!(of_three.iter().all(|own| own[0].together == Some(Together { tail_s: TAIL_S })));
        assert_eq!(shares(std::slice::from_ref(&plan), 1), [[plan]]);
    }
}
