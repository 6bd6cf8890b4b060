//! Phases, one after another; streams that end; what transactions cause; and load generators that share a plan.

use super::workload::{DELIVERY, RehearsedWorkload, SALE};
use super::{RehearsalRun, START, answers_after, plan, since_start};
use crate::clock::Nanos;
use crate::deferral::LATER_CAPACITY;
use crate::plan::{
    ArrivalProcess, Control, DrivePlan, Driven, Generator, LoadPhase, Pacing, PhaseLimit, SeenProgress, UserStream,
};
use crate::virtual_time::world::RequestKind;
use crate::virtual_time::{ServiceTimes, rehearse};
use record::intervals::Interval;
use record::script::PhaseEnd;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

fn to_the_end(name: &str, clients: u32, limit_ms: u64) -> LoadPhase {
    let streams = vec![UserStream::of(0, Pacing::Clients { clients })];
    LoadPhase { name: name.to_owned(), warmup_ms: 0, until: PhaseLimit::StreamsEnd { limit_ms }, streams }
}

fn counted(name: &str, clients: u32, transactions: u32) -> LoadPhase {
    let stream = UserStream { transactions: Some(transactions), ..UserStream::of(0, Pacing::Clients { clients }) };
    LoadPhase { streams: vec![stream], ..to_the_end(name, clients, 60_000) }
}

/// The result and its seconds, if each transaction takes this long.
fn driven(workload: &RehearsedWorkload, phases: Vec<LoadPhase>, millis: u64) -> (Driven, Vec<Interval>) {
    let (plan, mut seconds) = (DrivePlan::of(phases, 7), Vec::new());
    let service = ServiceTimes::of_all(Duration::from_millis(millis));
    let driven = rehearse(workload, &plan, &service, &Control::default(), &mut |seen| {
        if let SeenProgress::Second(second) = seen {
            seconds.push(second.interval);
        }
    });
    (driven.unwrap(), seconds)
}

/// Name, start, measured length, end, and the number of sales.
fn shapes(driven: &Driven) -> Vec<(&str, u64, u64, PhaseEnd, u64)> {
    let phases = driven.facts.phases.iter();
    let shape = |phase: &'_ record::script::PhaseDone| (phase.start_ms, phase.measured_ms, phase.ended);
    phases
        .map(|phase| {
            let (start, length, ended) = shape(phase);
            (phase.name.as_str(), start, length, ended, phase.kinds[usize::from(SALE)].committed)
        })
        .collect()
}

#[test]
fn a_phase_ends_with_its_last_transaction_and_the_next_begins_on_the_grid() {
    let workload = RehearsedWorkload::ending(30);
    let phases = vec![to_the_end("power", 2, 60_000), to_the_end("throughput", 5, 60_000)];
    let (driven, seconds) = driven(&workload, phases, 50);
    let expected = [("power", 0, 1_500, PhaseEnd::Streams, 60), ("throughput", 2_000, 1_500, PhaseEnd::Streams, 150)];
    assert_eq!(shapes(&driven), expected);
    let grid: Vec<_> = seconds.iter().map(|second| (second.start_ms, second.length_ms, second.measured)).collect();
    assert_eq!(grid, [(0, 1_000, true), (1_000, 500, true), (2_000, 1_000, true), (3_000, 500, true)]);
    assert_eq!((driven.facts.measured_ms, driven.stopped), (3_000, false));
    assert_eq!((driven.facts.kinds[0].committed, driven.facts.whole_run[0].committed), (210, 210));
    assert_eq!((driven.facts.clients, driven.facts.sessions), (5, 5), "as many as the largest phase has");
}

#[test]
fn users_end_after_so_many_transactions_together() {
    let load = LoadPhase::timed(Pacing::Clients { clients: 3 }, 1_000, 2_000);
    let (driven, _) =
        driven(&RehearsedWorkload::default(), vec![counted("fill", 4, 18), load, counted("end", 1, 1)], 10);
    let expected = [
        ("fill", 0, 50, PhaseEnd::Streams, 18),
        ("load", 1_000, 2_000, PhaseEnd::Time, 600),
        ("end", 4_000, 10, PhaseEnd::Streams, 1),
    ];
    assert_eq!(shapes(&driven), expected);
}

#[test]
fn a_phase_that_is_too_long_ends_at_its_limit_and_nothing_follows() {
    let workload = RehearsedWorkload::ending(1_000);
    let (driven, _) = driven(&workload, vec![to_the_end("power", 1, 2_000), to_the_end("throughput", 1, 2_000)], 10);
    assert_eq!(shapes(&driven), [("power", 0, 2_000, PhaseEnd::Limit, 199)]);
}

#[test]
fn whoever_stops_a_phase_stops_the_script() {
    let control = Control::default();
    let plan = DrivePlan::of(vec![counted("fill", 1, 1_000), counted("end", 1, 1)], 7);
    let service = ServiceTimes::of_all(Duration::from_millis(10));
    let driven = rehearse(&RehearsedWorkload::default(), &plan, &service, &control, &mut |seen| {
        if let SeenProgress::Tick(tick) = seen
            && tick.elapsed_ms == 3_000
        {
            control.stop();
        }
    })
    .unwrap();
    let ends: Vec<_> = driven.facts.phases.iter().map(|phase| (phase.measured_ms, phase.ended)).collect();
    assert_eq!((ends, driven.stopped), (vec![(3_000, PhaseEnd::Stopped)], true));
}

/// A query of an hour and a quarter: only the phase limits how long it may take.
#[test]
fn a_transaction_may_take_hours() {
    let (driven, _) = driven(&RehearsedWorkload::default(), vec![counted("power", 1, 2)], 4_500_250);
    assert_eq!(shapes(&driven), [("power", 0, 60_000, PhaseEnd::Limit, 0)], "a minute is the limit of that phase");
    let long = LoadPhase { until: PhaseLimit::StreamsEnd { limit_ms: 10_000_000 }, ..counted("power", 1, 2) };
    let (driven, _) = self::driven(&RehearsedWorkload::default(), vec![long], 4_500_250);
    assert_eq!(shapes(&driven), [("power", 0, 9_000_500, PhaseEnd::Streams, 2)]);
    let longest = driven.latencies.iter().flat_map(|part| &part.counts).map(|(micros, _)| *micros).max().unwrap();
    assert!(longest.abs_diff(4_500_250_000) < 5_000_000, "{longest} µs");
}

#[test]
fn what_is_caused_is_executed_when_it_is_due() {
    let causing = RehearsedWorkload::causing(Duration::from_millis(300));
    let (stop, deliveries) = (Control::default(), Rc::new(RefCell::new(Vec::new())));
    let run = RehearsalRun::new(&causing, plan(1, 0, 2), false, &stop);
    let seen = Rc::clone(&deliveries);
    let report = run.alone(move |call| {
        if call.asked == RequestKind::Statement(DELIVERY) {
            seen.borrow_mut().push(since_start(call));
        }
        answers_after(if matches!(call.asked, RequestKind::Statement(_)) { 10 } else { 0 })
    });
    let expected: Vec<Nanos> = (1..=170).map(|sale| Nanos::from_millis(10 * sale + 300)).collect();
    let mut got = deliveries.borrow().clone();
    got.truncate(expected.len() - 1);
    assert_eq!(got, expected[..expected.len() - 1], "each 300 ms after its sale");
    let totals = report.deferred;
    assert_eq!((totals.queued, totals.abandoned, totals.turned_away), (totals.done, 0, 0));
    let sales: u64 = report.seconds.iter().map(|second| second.kinds[usize::from(SALE)].committed).sum();
    assert_eq!(totals.queued + totals.not_due, sales, "what is due later than the end is counted: {totals:?}");
    assert!((29..=31).contains(&totals.not_due), "{totals:?}");
    let longest = report.seconds.iter().flat_map(|second| &second.kinds[usize::from(DELIVERY)].response);
    assert!(longest.map(|(micros, _)| *micros).max().unwrap() <= 10_010, "response counts from when it is due");
}

#[test]
fn work_for_an_actor_that_does_not_react_ends_the_driving() {
    let service = ServiceTimes::of_all(Duration::from_millis(10));
    let ended =
        rehearse(&RehearsedWorkload::misdirecting(), &plan(2, 0, 5), &service, &Control::default(), &mut |_| ());
    let error = ended.unwrap_err().to_string();
    assert_eq!(error, "the workload causes work for deliveries, which does not react: the work would never be done");
}

#[test]
fn nobody_pauses_where_work_arrives() {
    let stop = Control::default();
    let arrivals = Pacing::Arrivals { per_second: 100.0, process: ArrivalProcess::Uniform, sessions: 1 };
    let run_plan = super::paced(arrivals, 0, 2);
    let workload = RehearsedWorkload::deferring(2);
    let run = RehearsalRun::new(&workload, run_plan, false, &stop);
    // One session for a hundred arrivals a second of 30 ms each, so that transactions wait before they are handed over.
    let report = run.alone(|_| answers_after(30));
    assert_eq!(run.merged(vec![report]).driven.facts.paused_ms, Some(0));
}

#[test]
fn too_much_that_is_due_later_is_turned_away_and_counted() {
    let causing = RehearsedWorkload::causing(Duration::from_hours(1));
    let stop = Control::default();
    let report = RehearsalRun::new(&causing, plan(200, 0, 6), false, &stop).alone(|_| answers_after(10));
    let totals = report.deferred;
    assert_eq!(totals.not_due, LATER_CAPACITY as u64);
    assert!(totals.turned_away > 0 && totals.queued == 0, "{totals:?}");
    assert!(report.seconds.iter().all(|second| second.last_done >= START));
}

#[test]
fn load_generators_that_share_a_plan_do_what_one_would() {
    let service = ServiceTimes::of_all(Duration::from_millis(10));
    let done_by = |generator: Generator| {
        let workload = RehearsedWorkload::default();
        let plan = DrivePlan { generator, ..plan(5, 1, 2) };
        let driven = rehearse(&workload, &plan, &service, &Control::default(), &mut |_| ()).unwrap();
        (driven, workload)
    };
    let (whole, _) = done_by(Generator::default());
    let parts: Vec<Driven> = [0, 1].map(|number| done_by(Generator { number, of: 2 }).0).into();
    assert_eq!((parts[0].facts.clients, parts[1].facts.clients), (3, 2));
    let both = crate::combine::together(parts).unwrap();
    assert_eq!(both.facts.kinds, whole.facts.kinds);
    assert_eq!(both.facts.phases[0].kinds, whole.facts.phases[0].kinds);
    assert_eq!((both.seconds, both.latencies), (whole.seconds, whole.latencies));
}

#[test]
fn only_clients_of_the_load_are_counted_and_said_to_pause() {
    let driven = |streams: Vec<UserStream>| {
        let workload = RehearsedWorkload::with_upkeep(50);
        let mut plan = plan(2, 0, 5);
        plan.phases[0].streams.extend(streams);
        let (stop, service) = (Control::default(), ServiceTimes::of_all(Duration::from_millis(10)));
        let facts = rehearse(&workload, &plan, &service, &stop, &mut |_| ()).unwrap().facts;
        ((facts.clients, facts.paused_ms.unwrap()), facts.kinds[0].committed)
    };
    let (alone, beside) = (driven(Vec::new()), driven(vec![UserStream::of(1, Pacing::Clients { clients: 3 })]));
    assert_eq!(beside.0, alone.0);
    assert_eq!(alone.0.0, 2);
    assert!(beside.1 > 2 * alone.1, "the others work, too: {} and {}", alone.1, beside.1);
}
