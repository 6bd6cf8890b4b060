//! What makes a measurement invalid, and what only gives a warning.

use super::*;

fn why_invalid(facts: &DriverFacts) -> Option<String> {
    invalid(facts).map(|invalid| invalid.why)
}
use record::script::{PhaseDone, PhaseEnd};
use record::trial::{ArrivalProcess, KindTotals, Losses, RunDelay, Stalls, Testimony, Unended};

fn facts(committed: u64, busiest_shard: f64, lateness_p99_us: u64) -> DriverFacts {
    DriverFacts {
        kinds: vec![KindTotals { committed, ..KindTotals::default() }],
        testimony: Testimony { busiest_shard, lateness_p99_us, ..Testimony::default() },
        ..DriverFacts::default()
    }
}

#[test]
fn a_busy_driver_is_the_bottleneck_unless_the_engine_runs_inside_it() {
    let busy = facts(10, 0.97, 5);
    assert!(why_invalid(&busy).is_some_and(|why| why.contains("97 %")));
    assert_eq!(why_invalid(&DriverFacts { in_process: true, ..busy }), None);
    assert_eq!(why_invalid(&facts(10, 0.89, 5)), None);
}

#[test]
fn a_driver_may_wait_for_the_databases_cpus_and_for_no_others() {
    let with = |share, beside_database| {
        let mut facts = facts(10, 0.3, 5);
        facts.testimony.run_delay = Some(RunDelay { share, us_per_turn: 90.0, beside_database });
        why_invalid(&facts)
    };
    assert!(with(0.26, Some(false)).is_some_and(|why| why.contains("had none for 26 % of the window")));
    assert_eq!([with(0.25, Some(false)), with(0.75, Some(true)), with(0.75, None)], [None, None, None]);
}

#[test]
fn the_reason_is_what_stood_still_or_hung_and_not_that_nothing_was_committed() {
    let none = DriverFacts { measured_ms: 3_000, ..facts(0, 0.1, 5) };
    let stalls = Stalls { total_ms: 1_000, longest_ms: 1_000, ..Stalls::default() };
    let stood_still = DriverFacts { testimony: Testimony { stalls, ..none.testimony.clone() }, ..none.clone() };
    let hung = DriverFacts { unended: Unended { window_share: 1.0, ..Unended::default() }, ..none.clone() };
    let mut refused = none.clone();
    refused.kinds[0].failed = 20;
    let starts = |facts: &DriverFacts, words: &str| why_invalid(facts).is_some_and(|why| why.starts_with(words));
    assert!(starts(&none, "no transaction was committed"));
    assert!(starts(&stood_still, "the load generator stood still"), "{:?}", why_invalid(&stood_still));
    assert!(starts(&hung, "the database hung"), "{:?}", why_invalid(&hung));
    assert!(starts(&refused, "20 of 20 transactions"), "{:?}", why_invalid(&refused));
}

#[test]
fn a_rate_that_is_missed_by_far_measures_another_load() {
    let with = |came, turned_away, each_second: [u64; 5]| {
        let pacing = Pacing::Arrivals { per_second: 100.0, process: ArrivalProcess::Uniform, sessions: 4 };
        let queue = QueuedWork { came, turned_away, each_second: each_second.to_vec(), ..QueuedWork::default() };
        let driven = DriverFacts { warmup_ms: 1_000, measured_ms: 4_000, sessions: 4, ..facts(10, 0.1, 5) };
        why_invalid(&DriverFacts { pacing: Some(pacing), queue: Some(queue), ..driven })
    };
    assert_eq!(with(400, 0, [0, 0, 0, 2, 4]), None);
    assert_eq!(with(400, 0, [50, 90, 120, 140, 154]), None, "it waited before, and sessions are at work");
    let why = with(400, 0, [50, 90, 120, 140, 155]).unwrap();
    assert!(why.starts_with("the rate was missed: 25 % of what arrived"), "{why}");
    let why = with(200_000, 190_000, [0, 5, 10, 15, 20]).unwrap();
    assert!(why.contains("95 % of what") && why.contains("190000 arrivals were turned away and 16 waited"), "{why}");
}

#[test]
fn a_phase_that_was_cut_off_measured_nothing() {
    let ended = |ended| {
        let name = "power".to_owned();
        let (streams, kinds) = (Vec::new(), Vec::new());
        let phase = PhaseDone { name, start_ms: 0, warmup_ms: 0, measured_ms: 90_000, ended, streams, kinds };
        why_invalid(&DriverFacts { phases: vec![phase], ..facts(10, 0.1, 5) })
    };
    assert_eq!(ended(PhaseEnd::Streams), None);
    let why = "phase power was not at its end within its limit of 90.0 s";
    assert_eq!(ended(PhaseEnd::Limit).as_deref(), Some(why));
}

#[test]
fn a_load_generator_that_stood_still_measured_nothing_even_with_the_engine_inside_it() {
    let with = |total_ms| {
        let mut facts = DriverFacts { measured_ms: 60_000, in_process: true, ..facts(10, 0.1, 5) };
        facts.testimony.stalls = Stalls { total_ms, longest_ms: total_ms, ..Stalls::default() };
        (why_invalid(&facts), warnings(&facts, &[]))
    };
    assert!(with(3_000).0.is_some_and(|why| why.starts_with("the load generator stood still for 3.0 s of the 60.0 s")));
    assert_eq!(
        with(600),
        (None, vec!["the load generator stood still for 0.6 s in all, at most for 0.6 s at a time".to_owned()])
    );
    assert_eq!(with(0), (None, Vec::new()));
}

#[test]
fn settings_that_are_others_at_the_end_are_named() {
    let settings = |text: &str| -> BTreeMap<String, String> {
        text.split(' ')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    };
    let changed = |began: &str, ended: &str| why_changed(&settings(began), &settings(ended));
    let why = "the server's settings were changed during the trial: fsync from on to off, work_mem to 5MB";
    assert_eq!(changed("fsync=on jit=on", "fsync=off jit=on work_mem=5MB").as_deref(), Some(why));
    assert_eq!(changed("fsync=on", "fsync=on"), None);
    let why = "the server's settings were changed during the trial: work_mem from 5MB to its default";
    assert_eq!(changed("fsync=on work_mem=5MB", "fsync=on").as_deref(), Some(why));
    assert_eq!((changed("", "fsync=on"), changed("fsync=on", "")), (None, None), "a login that may not read them");
}

/// As under a CPU limit, whose periods are shorter than any stall that is listed alone.
#[test]
fn a_load_generator_that_stood_still_in_pieces_is_told_and_with_many_of_them_measured_nothing() {
    let with = |scattered_ms| {
        let mut facts = DriverFacts { measured_ms: 60_000, ..facts(10, 0.1, 5) };
        facts.testimony.stalls = Stalls { scattered_ms, ..Stalls::default() };
        (why_invalid(&facts), warnings(&facts, &[]))
    };
    let why = "the load generator stood still for at least 6.1 s of the 60.0 s that were measured, in pieces of less than half a second";
    let (found, warned) = with(6_100);
    assert!(found.is_some_and(|found| found.starts_with(why)) && warned.is_empty(), "it is said once");
    let told = "the load generator stood still for at least 1.3 s in all, in pieces of less than half a second: raise its CPU limit";
    assert_eq!(with(1_300), (None, vec![told.to_owned()]));
    assert_eq!(with(1_200), (None, Vec::new()));
}

/// Where stops are distinguished from waits, few are many. A limit that is used up has a figure of its own.
#[test]
fn a_load_generator_that_is_known_to_be_held_back_measured_nothing() {
    let with = |measured_ms, scattered_ms, throttled_ms| {
        let mut facts = DriverFacts { measured_ms, ..facts(10, 0.1, 5) };
        let throttled_ms = Some(throttled_ms);
        facts.testimony.stalls = Stalls { scattered_ms, without_waits: true, throttled_ms, ..Stalls::default() };
        why_invalid(&facts).map(|why| why.split(" measured").next().unwrap().to_owned())
    };
    let why = |how: &str, time: &str, of| Some(format!("the load generator {how} {time} of the {of} s that were"));
    assert_eq!(with(60_000, 700, 0), why("stood still for at least", "0.7 s", "60.0"));
    assert_eq!(with(60_000, 600, 600), None);
    assert_eq!(with(5_000, 200, 0), None, "hiccups");
    let mut short = DriverFacts { measured_ms: 5_000, ..facts(10, 0.1, 5) };
    short.testimony.stalls = Stalls { scattered_ms: 150, without_waits: true, ..Stalls::default() };
    assert_eq!(warnings(&short, &[]).len(), 1);
    short.testimony.stalls = Stalls { scattered_ms: 150, ..Stalls::default() };
    short.measured_ms = 1_000;
    assert!(why_invalid(&short).is_some(), "a tenth is no hiccup where waits are not known");
    assert_eq!(with(5_000, 0, 60), why("was throttled for", "0.1 s, added up over CPUs,", "5.0"));
}

#[test]
fn a_database_that_hangs_is_not_fast() {
    let with = |transactions, window_share| {
        let unended = Unended { transactions, oldest_ms: 13_000, window_share };
        let facts = DriverFacts { unended, ..facts(10, 0.1, 5) };
        (why_invalid(&facts), warnings(&facts, &[]).concat())
    };
    let (invalid, _) = with(4, 0.43);
    assert!(
        invalid
            .unwrap()
            .starts_with("the database hung: 4 transactions never ended, the oldest had waited for 13.0 s; 43 %")
    );
    let (valid, told) = with(1, 0.002);
    assert_eq!(valid, None);
    assert!(told.starts_with("1 transaction never ended, the oldest had waited for 13.0 s"), "{told}");
}

#[test]
fn a_workload_of_which_a_part_fails_is_another_workload() {
    let kind = |name: &str, committed, failed| KindTotals {
        kind: name.to_owned(),
        committed,
        failed,
        ..KindTotals::default()
    };
    let why = |kinds: &[KindTotals]| why_invalid(&DriverFacts { kinds: kinds.to_vec(), ..facts(1, 0.1, 5) });
    let told = why(&[kind("new-order", 5, 461), kind("payment", 100_000, 0)]).unwrap();
    assert!(told.starts_with("461 of 466 transactions of kind new-order failed (99 %), at most 1.0 % may"), "{told}");
    assert_eq!(why(&[kind("new-order", 500, 4), kind("payment", 500, 5)]), None);
    assert_eq!(why(&[kind("delivery", 20, 1), kind("payment", 500, 0)]), None, "one of a few is chance");
    assert!(why(&[kind("a", 100, 9), kind("b", 100, 9)]).unwrap().starts_with("18 of 218 transactions failed"));
}

#[test]
fn clients_that_were_held_up_or_borrowed_from_later_were_not_measured() {
    let why = |deferred: Deferred| why_invalid(&DriverFacts { deferred: Some(deferred), ..facts(10, 0.1, 5) });
    let sound = Deferred {
        queued_in_window: 1_000,
        waiting_at_start: 30,
        waiting_at_end: 75,
        sessions_at_end: 2,
        ..Deferred::default()
    };
    assert_eq!(why(sound), None);
    assert!(
        why(Deferred { waiting_at_end: 90, ..sound })
            .unwrap()
            .starts_with("58 of the 1000 transactions that clients deferred")
    );
    assert!(
        why(Deferred { held_up: 7, ..sound })
            .unwrap()
            .starts_with("clients were held up 7 times, because 2 background sessions")
    );
    let turned_away = Deferred { turned_away: 1, ..sound };
    assert!(why(turned_away).unwrap().starts_with("1 deferred transaction or note found its queue full"));
    let arrivals = Pacing::Arrivals { per_second: 1.0, process: ArrivalProcess::Uniform, sessions: 1 };
    let arriving = DriverFacts { deferred: Some(turned_away), pacing: Some(arrivals), ..facts(10, 0.1, 5) };
    assert!(why_invalid(&arriving).unwrap().starts_with("1 deferred transaction or note found its queue full"));
}

#[test]
fn seconds_in_which_nothing_ended_are_told_if_something_must_have() {
    let told = |ended: &[u64]| {
        let each: Vec<SecondDone> = ended.iter().map(|ended| SecondDone { counted: 0, ended: *ended }).collect();
        warnings(&DriverFacts { warmup_ms: 5_000, ..facts(10, 0.1, 0) }, &each).concat()
    };
    assert_eq!(
        told(&[900, 0, 0, 800, 0, 700]),
        "nothing was done for 3 of the 6 measured seconds, from 6 s to 8 s after the start, the longest of 2 stretches"
    );
    assert_eq!(told(&[1, 0, 2, 0, 1, 0, 0, 1]), "", "so it is with few transactions");
    assert_eq!(told(&[]), "");
}

#[test]
fn a_driver_that_makes_up_a_large_part_of_the_response_was_late() {
    let with = |late_us, p99_us| {
        let mut facts = facts(10, 0.1, late_us);
        facts.testimony.response.p99_us = p99_us;
        why_invalid(&facts)
    };
    assert!(with(5_000, 12_000).is_some_and(|why| why.contains("5000 µs")));
    assert_eq!(with(5_000, 60_000), None, "a twelfth of the response");
    assert_eq!(with(900, 1_000), None, "below what a busy machine does to anybody");
}

#[test]
fn a_clock_that_runs_at_another_rate_is_found_out() {
    let reading =
        |offset_ms: i64| ClockReading { at: String::new(), offset_ns: offset_ms * 1_000_000, round_trip_ns: 1_000_000 };
    let told = |gained_ms: i64| {
        why_clock_is_wrong(&reading(-70_000), &reading(-70_000 + gained_ms), Duration::from_millis(500))
    };
    assert_eq!(told(10), None, "9 ms surely, of 10 that would be wrong");
    assert_eq!(told(1_250).unwrap(), "the machine's clock ran 3.50 times as fast as the host's");
    assert_eq!(told(-100).unwrap(), "the machine's clock ran 0.80 times as fast as the host's");
}

/// The readings lie around the opening of sessions, too.
#[test]
fn a_load_hosts_clock_may_drift_by_200_ppm_between_its_readings() {
    let reading =
        |offset_us: i64| ClockReading { at: String::new(), offset_ns: offset_us * 1_000, round_trip_ns: 10_000 };
    let told = |gained_us: i64| why_clock_drifts(&reading(0), &reading(gained_us), Duration::from_secs(10));
    assert_eq!(told(2_010), None, "as far as the readings are sure");
    assert!(told(-3_010).is_some_and(|why| why.contains("at least 300 ppm")));
}

/// Half a second in twenty-five is a fiftieth, which is the limit.
#[test]
fn a_clock_that_runs_wrong_makes_what_it_timed_false() {
    let told = |placement: &str, gained_ms: i64| {
        let reading = |at: &str, offset_ms: i64| ClockReading {
            at: at.to_owned(),
            offset_ns: offset_ms * 1_000_000,
            round_trip_ns: 2_000_000,
        };
        let clock = [reading(BEFORE_DRIVING, -9_000), reading(AFTER_DRIVING, -9_000 + gained_ms)];
        let placement = placement.to_owned();
        why_time_is_wrong(&clock, &DriverFacts { placement, warmup_ms: 5_000, measured_ms: 20_000, ..facts(1, 0.0, 0) })
    };
    assert_eq!(told("inside", 501), None, "as far as the readings are sure");
    assert!(told("inside", 503).is_some_and(|why| why.contains("gained 0.5 s")));
    assert!(told("inside", -12_000).is_some_and(|why| why.contains("lost 12.0 s")));
    assert_eq!(told("outside", 12_000), None, "timed by the host");
}

#[test]
fn a_queue_that_grows_is_told_and_one_that_comes_and_goes_is_not() {
    let with = |each_second: &[u64], turned_away| {
        let waiting_at_end = each_second.last().copied().unwrap_or(0);
        let queue =
            QueuedWork { each_second: each_second.to_vec(), waiting_at_end, turned_away, ..QueuedWork::default() };
        warnings(&DriverFacts { sessions: 10, queue: Some(queue), warmup_ms: 1_000, ..facts(10, 0.1, 0) }, &[])
    };
    assert_eq!(with(&[0, 100, 200, 300, 400, 500, 600], 0).len(), 1);
    assert_eq!(with(&[0, 3, 900, 2, 0, 4, 5], 0).len(), 0);
    assert_eq!(with(&[0, 60, 50, 55, 60, 50, 55], 0).len(), 0, "long, but it does not grow");
    assert_eq!(with(&[0, 60, 50, 55, 60, 50, 55], 7).len(), 1);
    assert_eq!(with(&[], 0).len(), 0);
}

#[test]
fn a_database_that_broke_down_and_came_back_was_not_measured() {
    let mut facts = facts(100, 0.1, 0);
    assert_eq!(why_invalid(&facts), None);
    facts.losses = Losses { lost: 3, reopened: 3, longest_ms: 4_200 };
    let told = why_invalid(&facts).unwrap();
    assert!(told.starts_with("3 sessions were lost, and 3 opened again") && told.contains("was 4.2 s"), "{told}");
}

#[test]
fn a_disagreement_is_a_violation_only_if_the_driver_saw_every_end() {
    let violated = || {
        let verdict = Verdict::Violated { seen: "99 instead of 100".to_owned() };
        let moment = record::check::Moment::AfterTrial;
        vec![CheckResult { name: "ledger".to_owned(), rule: "they agree".to_owned(), moment, verdict }]
    };
    assert!(as_far_as_known(violated(), 0)[0].is_violated());
    let softened = as_far_as_known(violated(), 1);
    assert!(matches!(&softened[0].verdict, Verdict::Undecided { why } if why.contains("1 transactions")));
    let of_payments = |failed| {
        let kinds = [("payment", failed), ("new-order", 0)].map(|(kind, failed)| KindTotals {
            kind: kind.to_owned(),
            committed: 100,
            failed,
            ..KindTotals::default()
        });
        as_far_as_done(violated(), &kinds).remove(0).verdict
    };
    assert!(matches!(of_payments(1), Verdict::Violated { .. }));
    let Verdict::Undecided { why } = of_payments(90) else { panic!("it was not softened") };
    assert_eq!(why, "90 of 190 transactions of kind payment failed; 99 instead of 100");
}

#[test]
fn a_window_without_a_commit_is_not_a_measurement() {
    assert!(why_invalid(&facts(0, 0.1, 0)).is_some());
}
