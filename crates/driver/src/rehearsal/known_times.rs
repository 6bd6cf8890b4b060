//! Complete runs in which each transaction takes a known time, so that the totals are known as well.

use super::workload::{DELIVERY, RehearsedWorkload, SALE};
use super::{paced, plan};
use crate::counts::quantile;
use crate::error::DriveError;
use crate::plan::{ArrivalProcess, Control, DrivePlan, Driven, Pacing, SeenProgress, Together};
use crate::script::ScriptError;
use crate::virtual_time::{ServiceTimes, rehearse};
use record::intervals::Span;
use record::trial::Stalls;
use serde_json::{Map, json};
use std::time::Duration;
use workloads::catalog::AnyWorkload;
use workloads::workload::Workload;

fn taking(millis: u64) -> ServiceTimes {
    ServiceTimes::of_all(Duration::from_millis(millis))
}

fn rehearsed(workload: &impl Workload, plan: &DrivePlan, service: &ServiceTimes) -> Driven {
    rehearse(workload, plan, service, &Control::default(), &mut |_| ()).unwrap()
}

fn order_entry() -> AnyWorkload {
    AnyWorkload::from_table("order-entry", &Map::from_iter([("warehouses".to_owned(), json!(2))])).unwrap()
}

/// Also returns everything that was seen on the way.
fn order_entry_rehearsed(plan: &DrivePlan, service: &ServiceTimes) -> (Driven, Vec<SeenProgress>) {
    let mut seen = Vec::new();
    let driven =
        crate::rehearse(&order_entry(), plan, service, &Control::default(), &mut |what| seen.push(what)).unwrap();
    (driven, seen)
}

fn service_of(driven: &Driven, kind: u16, share: f64) -> u64 {
    let part = driven.latencies.iter().find(|part| part.kind == kind && part.span == Span::Service);
    quantile(&part.unwrap().counts, share)
}

fn ended(driven: &Driven) -> u64 {
    driven.facts.kinds.iter().map(record::trial::KindTotals::finished).sum()
}

#[test]
fn the_same_seed_gives_the_same_byte_for_byte() {
    let service = taking(7).varied(0.5);
    let of_seed = |seed| {
        let (driven, seen) = order_entry_rehearsed(&DrivePlan { seed, ..plan(20, 2, 10) }, &service);
        (serde_json::to_string(&driven).unwrap(), seen)
    };
    assert_eq!(of_seed(7), of_seed(7));
    assert_ne!(of_seed(7).0, of_seed(8).0);
}

#[test]
fn clients_do_as_much_as_their_number_over_the_service_time() {
    for clients in [1, 8, 2_000] {
        let driven = rehearsed(&RehearsedWorkload::default(), &plan(clients, 1, 10), &taking(20));
        let expected = u64::from(clients) * 500;
        assert!(ended(&driven).abs_diff(expected) <= u64::from(clients), "{clients} clients: {}", ended(&driven));
        assert!(service_of(&driven, SALE, 0.5).abs_diff(20_000) <= 20);
        assert!(driven.facts.testimony.response.p99_us.abs_diff(20_000) <= 20, "nobody waits for anybody");
        assert_eq!(driven.facts.sessions, clients);
    }
}

#[test]
fn clients_begin_one_after_another() {
    let mut plan = plan(10, 0, 20);
    plan.phases[0].streams[0].ramp_per_s = Some(1.0);
    let driven = rehearsed(&RehearsedWorkload::default(), &plan, &taking(10));
    // The clients work for 20, 19, … 11 s, at 100 transactions a second.
    assert!(ended(&driven).abs_diff(15_500) <= 20, "{}", ended(&driven));
}

#[test]
fn spread_changes_neither_the_mean_nor_the_median() {
    let driven = rehearsed(&RehearsedWorkload::default(), &plan(10, 0, 100), &taking(20).varied(0.5));
    // 50,000 transactions whose times have a deviation of 4 ms: the mean's own deviation is below 0.1 %.
    assert!(ended(&driven).abs_diff(50_000) < 250, "{}", ended(&driven));
    assert!(service_of(&driven, SALE, 0.5).abs_diff(20_000) < 200);
    assert!((10_000..10_500).contains(&service_of(&driven, SALE, 0.0)));
    assert!((29_500..30_050).contains(&service_of(&driven, SALE, 1.0)));
}

#[test]
fn terminals_do_as_much_as_their_number_over_a_cycle() {
    let pacing = Pacing::Terminals { terminals: 1_000, sessions: 50 };
    let driven = rehearsed(&RehearsedWorkload::pausing(400, 590), &paced(pacing, 2, 30), &taking(10));
    assert!(ended(&driven).abs_diff(30_000) <= 1_000, "{}", ended(&driven));
    assert_eq!((driven.facts.clients, driven.facts.sessions), (1_000, 50));
}

#[test]
fn arrivals_come_at_their_rate() {
    let pacing = Pacing::Arrivals { per_second: 500.0, process: ArrivalProcess::Uniform, sessions: 20 };
    let driven = rehearsed(&RehearsedWorkload::default(), &paced(pacing, 1, 20), &taking(10));
    assert!(ended(&driven).abs_diff(10_000) <= 10, "{}", ended(&driven));
    let queue = driven.facts.queue.unwrap();
    assert_eq!((queue.turned_away, queue.each_second.len()), (0, 21));
}

#[test]
fn each_kind_takes_its_own_time_in_the_background_as_well() {
    let times = [4, 30].map(Duration::from_millis).to_vec();
    let driven = rehearsed(&RehearsedWorkload::deferring(10), &plan(8, 1, 10), &ServiceTimes::of_kinds(times));
    let slower = service_of(&driven, DELIVERY, 0.5);
    assert!(service_of(&driven, SALE, 0.5).abs_diff(4_000) <= 4 && slower.abs_diff(30_000) <= 30, "{slower}");
    let deferred = driven.facts.deferred.unwrap();
    assert!(deferred.queued > 2_000 && deferred.queued == deferred.done, "{deferred:?}");
    assert!(driven.facts.kinds[usize::from(SALE)].committed.abs_diff(20_000) <= 8, "nobody waits for deliveries");
    assert!(driven.log.starts_with("kind\t"));
}

#[test]
fn ten_hours_have_every_second() {
    let (mut ticks, mut seconds, mut ready) = (0, 0, 0);
    let plan = plan(1, 0, 36_000);
    let driven =
        rehearse(&RehearsedWorkload::default(), &plan, &taking(100), &Control::default(), &mut |seen| match seen {
            SeenProgress::Ready => {
                assert_eq!((ticks, seconds), (0, 0));
                ready += 1;
            }
            SeenProgress::Tick(tick) => {
                ticks += 1;
                assert_eq!((tick.elapsed_ms, tick.measured, tick.errors), (ticks * 1_000, true, 0));
                assert!(tick.counted == tick.committed && tick.counted.abs_diff(10) <= 1);
            }
            SeenProgress::Receipts(_) => {}
            SeenProgress::Second(second) => {
                assert_eq!((second.interval.start_ms, second.interval.length_ms), (seconds * 1_000, 1_000));
                seconds += 1;
            }
        })
        .unwrap();
    assert_eq!((ready, ticks, seconds, driven.seconds.len()), (1, 36_000, 36_000, 36_000));
    assert_eq!((driven.facts.measured_ms, driven.stopped), (36_000_000, false));
    assert!(ended(&driven).abs_diff(360_000) <= 1);
}

#[test]
fn what_is_said_of_it_is_what_real_driving_says_but_nothing_was_executed() {
    let (driven, seen) = order_entry_rehearsed(&plan(5, 2, 20), &taking(10));
    let (facts, figure) = (&driven.facts, order_entry().entry().metric);
    assert_eq!((facts.metric.name.as_str(), facts.metric.unit.as_str()), (figure.name, figure.unit));
    assert_eq!((facts.metric.per_ms, facts.metric.counted.clone()), (figure.per_ms, vec!["new-order".to_owned()]));
    assert_eq!((facts.warmup_ms, facts.measured_ms, driven.seconds.len()), (2_000, 20_000, 20));
    assert!(facts.tally.is_empty() && facts.errors.is_empty());
    assert_eq!(facts.work.transactions, facts.work.statements);
    assert!(facts.kinds.iter().all(|kind| kind.committed > 0), "the workload's own mix: {:?}", facts.kinds);
    let testimony = &facts.testimony;
    assert_eq!((testimony.cpu_ns, testimony.cpu_ns_per_statement, testimony.stalls), (0, Some(0), Stalls::default()));
    assert!(testimony.busiest_shard < 1e-9, "{testimony:?}");
    assert_eq!(testimony.lateness_max_us, 1, "no histogram has less");
    let measured = seen.iter().filter_map(|seen| if let SeenProgress::Tick(tick) = seen { Some(tick) } else { None });
    let counted: Vec<u64> = measured.filter(|tick| tick.measured).map(|tick| tick.counted).collect();
    assert_eq!(counted, driven.seconds.iter().map(|second| second.counted).collect::<Vec<_>>());
}

#[test]
fn a_stop_ends_it_where_it_is() {
    let stopped_after = |seconds: u64| {
        let control = Control::default();
        rehearse(&RehearsedWorkload::default(), &plan(4, 1, 36_000), &taking(10), &control, &mut |seen| match seen {
            SeenProgress::Ready if seconds == 0 => control.stop(),
            SeenProgress::Tick(tick) if tick.elapsed_ms == seconds * 1_000 => control.stop(),
            _ => {}
        })
        .unwrap()
    };
    let (later, at_once) = (stopped_after(61), stopped_after(0));
    assert_eq!((later.facts.measured_ms, later.stopped), (60_000, true));
    assert_eq!((at_once.facts.measured_ms, at_once.facts.whole_run[0].committed, at_once.stopped), (0, 0, true));
}

#[test]
fn who_would_start_with_others_starts_at_once_and_goes_on_after_the_window() {
    let together = DrivePlan { together: Some(Together { tail_s: 5 }), ..plan(2, 1, 10) };
    let driven = rehearsed(&RehearsedWorkload::default(), &together, &taking(10));
    assert_eq!((driven.facts.measured_ms, driven.stopped), (10_000, false));
    assert!(driven.facts.whole_run[0].committed.abs_diff(3_200) <= 2, "{:?}", driven.facts.whole_run);
}

#[test]
fn transactions_that_take_no_time_take_a_microsecond() {
    let driven = rehearsed(&RehearsedWorkload::default(), &plan(1, 0, 1), &taking(0));
    assert!(ended(&driven).abs_diff(1_000_000) <= 1);
}

#[test]
fn a_plan_of_nothing_is_refused_as_in_real_driving() {
    let refused = rehearse(&RehearsedWorkload::default(), &plan(0, 0, 1), &taking(1), &Control::default(), &mut |_| ());
    assert!(matches!(refused, Err(DriveError::Script(ScriptError::Nothing { .. }))));
}

#[test]
fn every_workload_can_be_rehearsed() {
    for entry in workloads::catalog::WORKLOADS {
        let scripts = json!([{ "name": "one", "text": "SELECT 1" }, { "name": "two", "text": "SELECT 2" }]);
        let given = (entry.kind == "file").then(|| ("scripts".to_owned(), scripts));
        let workload = AnyWorkload::from_table(entry.kind, &Map::from_iter(given)).unwrap();
        let driven = crate::rehearse(&workload, &plan(4, 0, 5), &taking(5), &Control::default(), &mut |_| ()).unwrap();
        let least = if entry.own_phases { 50 } else { 3_000 };
        assert!(ended(&driven) > least, "{}: {}", entry.kind, ended(&driven));
    }
}
