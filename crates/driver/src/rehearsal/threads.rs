//! The real clock and real threads, with an engine that does nothing: ticks, panics, stops, and how errors are reported.

use super::workload::{FILLING, KINDS, RehearsedWorkload};
use crate::clock::{Clock, MonotonicClock, Nanos};
use crate::drive;
use crate::error::DriveError;
use crate::plan::{Control, DrivePlan, LoadPhase, Pacing, PhaseLimit, SeenProgress, Together, UserStream};
use crate::script::ScriptError;
use engines::session::{Access, Connect, Param, ResultSet, Session, SessionError, SessionWork};
use engines::statement::{Dialect, StatementId};
use record::script::PhaseEnd;
use std::os::fd::BorrowedFd;

/// Opens in-process sessions whose statements end as the function decides.
struct Idle(fn() -> Result<(), SessionError>);

struct IdleSession {
    statement: fn() -> Result<(), SessionError>,
    results: ResultSet,
}

impl Connect for Idle {
    type Session = IdleSession;

    fn connect(&self) -> Result<IdleSession, SessionError> {
        Ok(IdleSession { statement: self.0, results: ResultSet::default() })
    }
}

impl Session for IdleSession {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn begin(&mut self, _access: Access) -> Result<(), SessionError> {
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    async fn execute(&mut self, _: StatementId, _: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        (self.statement)().map(|()| &self.results)
    }

    async fn execute_text(&mut self, _: &'static str, _: &str) -> Result<&ResultSet, SessionError> {
        self.execute(StatementId(u16::MAX), &[]).await
    }

    fn work(&self) -> SessionWork {
        SessionWork::default()
    }
}

fn plan(clients: u32, shards: u32, measure_ms: u64) -> DrivePlan {
    DrivePlan { shards, ..DrivePlan::timed(Pacing::Clients { clients }, 0, measure_ms, 1) }
}

#[test]
fn threads_agree_on_one_grid_and_ticks_add_up() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let (mut ticks, mut seconds) = (Vec::new(), Vec::new());
    let driven = drive(&workload, &Idle(|| Ok(())), &plan(5, 3, 1_500), &stop, &mut |seen| match seen {
        SeenProgress::Tick(tick) => ticks.push(tick),
        SeenProgress::Second(second) => seconds.push(second),
        SeenProgress::Ready | SeenProgress::Receipts(_) => {}
    })
    .unwrap();
    assert_eq!((driven.facts.shards, driven.facts.sessions, driven.facts.measured_ms), (3, 3, 2_000));
    assert_eq!(driven.seconds.len(), 2);
    assert_eq!(driven.facts.metric.counted, [KINDS[0].name]);
    assert!(driven.facts.kinds[0].committed > 0);
    let moments: Vec<u64> = ticks.iter().map(|tick| tick.elapsed_ms).take(2).collect();
    assert_eq!(moments, [1_000, 2_000]);
    let ticked: u64 = ticks.iter().map(|tick| tick.counted).sum();
    let shown: Vec<_> = seconds.iter().map(|second| (second.interval.start_ms, second.interval.measured)).collect();
    assert_eq!(shown, [(0, true), (1_000, true)]);
    assert_eq!(driven.seconds.iter().map(|second| second.counted).sum::<u64>(), driven.facts.kinds[0].finished());
    let committed: u64 = seconds.iter().map(|second| second.totals[0].committed).sum();
    assert_eq!(committed, driven.facts.kinds[0].committed);
    assert!(ticked > 0 && ticked <= driven.facts.whole_run[0].committed);
    assert!(driven.facts.testimony.cpu_ns > 0);
    assert!(!driven.stopped);
}

#[test]
fn what_is_driven_with_others_starts_when_it_is_told_and_goes_on_after_the_window() {
    let (workload, control) = (RehearsedWorkload::default(), Control::default());
    let together = DrivePlan { together: Some(Together { tail_s: 1 }), ..plan(2, 2, 1_000) };
    let mut told = 0;
    let driven = drive(&workload, &Idle(|| Ok(())), &together, &control, &mut |seen| {
        if seen == SeenProgress::Ready {
            told = (MonotonicClock.now() + Nanos::from_millis(150)).0;
            control.start_at(told);
        }
    })
    .unwrap();
    assert_eq!(driven.facts.window_start_ns, Some(told));
    assert_eq!((driven.facts.measured_ms, driven.stopped), (1_000, false));
    assert!(driven.facts.whole_run[0].committed > driven.facts.kinds[0].committed, "the tail is driven, not measured");
}

/// The driver is done at once with each of the two phases, and others are not.
#[test]
fn who_is_done_before_others_keeps_the_database_busy_and_nothing_of_that_counts() {
    let (workload, control) = (RehearsedWorkload::ending(3), Control::default());
    let until = PhaseLimit::StreamsEnd { limit_ms: 60_000 };
    let clients = vec![UserStream::of(0, Pacing::Clients { clients: 2 })];
    let phase = |name: &str| LoadPhase { name: name.to_owned(), warmup_ms: 0, until, streams: clients.clone() };
    let plan = DrivePlan::of(vec![phase("power"), phase("throughput")], 7);
    let together = DrivePlan { together: Some(Together { tail_s: 0 }), shards: 2, ..plan };
    let filling = || workload.attempts().iter().filter(|input| input.number >= FILLING).count();
    let mut filled = Vec::new();
    let driven = drive(&workload, &Idle(|| Ok(())), &together, &control, &mut |seen| {
        if seen == SeenProgress::Ready {
            let before = filling();
            while !filled.is_empty() && filling() < before + 100 {
                std::thread::yield_now();
            }
            filled.push(filling());
            control.start_at(MonotonicClock.now().0);
        }
    })
    .unwrap();
    assert!(filled.len() == 3 && filled[0] == 0 && filled[1] >= 100 && filled[2] >= filled[1] + 100, "{filled:?}");
    let scored: Vec<u64> = driven.facts.phases.iter().map(|phase| phase.kinds[0].committed).collect();
    assert_eq!((scored, driven.facts.whole_run[0].committed), (vec![6, 6], 12));
    assert_eq!(driven.seconds.iter().map(|second| second.ended).sum::<u64>(), 12);
}

#[test]
fn threads_do_a_counted_load_together() {
    for (clients, count) in [(4, 1_001), (4, 3)] {
        let stream = UserStream { transactions: Some(count), ..UserStream::of(0, Pacing::Clients { clients }) };
        let until = PhaseLimit::StreamsEnd { limit_ms: 60_000 };
        let phase = LoadPhase { name: "load".to_owned(), warmup_ms: 0, until, streams: vec![stream] };
        let plan = DrivePlan { shards: 2, ..DrivePlan::of(vec![phase], 7) };
        let driven =
            drive(&RehearsedWorkload::default(), &Idle(|| Ok(())), &plan, &Control::default(), &mut |_| {}).unwrap();
        let [phase] = &driven.facts.phases[..] else { panic!("{:?}", driven.facts.phases) };
        assert_eq!((phase.ended, driven.facts.whole_run[0].committed), (PhaseEnd::Streams, count.into()));
    }
}

#[test]
fn who_waits_for_others_can_be_stopped() {
    let (workload, control) = (RehearsedWorkload::default(), Control::default());
    let together = DrivePlan { together: Some(Together { tail_s: 1 }), ..plan(2, 2, 3_600_000) };
    let driven = drive(&workload, &Idle(|| Ok(())), &together, &control, &mut |seen| {
        if seen == SeenProgress::Ready {
            control.stop();
        }
    })
    .unwrap();
    assert!(driven.stopped);
    assert_eq!(driven.facts.whole_run[0].committed, 0);
}

#[test]
fn shards_are_at_most_as_many_as_clients() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    stop.stop();
    let driven = drive(&workload, &Idle(|| Ok(())), &plan(2, 16, 1_000), &stop, &mut |_| ()).unwrap();
    assert_eq!(driven.facts.shards, 2);
}

#[test]
fn a_stop_before_the_start_ends_at_once() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    stop.stop();
    let driven = drive(&workload, &Idle(|| Ok(())), &plan(4, 2, 3_600_000), &stop, &mut |_| ()).unwrap();
    assert!(driven.stopped);
    assert_eq!((driven.facts.measured_ms, driven.facts.whole_run[0].committed), (0, 0));
}

#[test]
fn a_stop_from_a_tick_ends_soon() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let driven = drive(&workload, &Idle(|| Ok(())), &plan(4, 2, 3_600_000), &stop, &mut |seen| {
        if matches!(seen, SeenProgress::Tick(_)) {
            stop.stop();
        }
    })
    .unwrap();
    assert!(driven.stopped);
    assert!(driven.facts.measured_ms >= 1_000);
}

#[test]
fn a_panic_in_one_thread_ends_all_and_is_told() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let panics = Idle(|| panic!("this test's panic"));
    let error = drive(&workload, &panics, &plan(4, 2, 3_600_000), &stop, &mut |_| ()).unwrap_err();
    assert!(matches!(error, DriveError::Panicked(message) if message == "this test's panic"));
}

#[test]
fn if_every_transaction_fails_driving_fails_with_the_reason() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let refuses = Idle(|| Err(SessionError::Refused { code: "42P01".to_owned(), message: "no such table".to_owned() }));
    let error = drive(&workload, &refuses, &plan(2, 1, 1_000), &stop, &mut |_| ()).unwrap_err();
    assert!(matches!(error, DriveError::AllFail { message } if message == "42P01: no such table"));
}

#[test]
fn no_clients_is_an_error() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let error = drive(&workload, &Idle(|| Ok(())), &plan(0, 1, 1_000), &stop, &mut |_| ()).unwrap_err();
    assert!(matches!(error, DriveError::Script(ScriptError::Nothing { .. })));
}
