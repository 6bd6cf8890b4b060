//! A workload that only this test's catalogue lists, with two actors and three phases, on every engine. Also one
//! database that two load generators drive.

use crate::database::{HasDataset, Loaded, database_or_skip};
use crate::made_up::{self, BATCH, CLOSE, CONFIRM, DEPOSIT, FILLED_BY_EACH, LOOK, SETTLED_BY_EACH, WRITE};
use driver::combine::together;
use driver::drive_endpoint;
use driver::instances::{self, drive_all};
use driver::plan::{Control, DrivePlan, Driven, Generator, LoadPhase, Pacing, Receipt, Receipts, SeenProgress};
use engines::server::Endpoint;
use record::intervals::Interval;
use record::script::PhaseEnd;
use record::trial::{DriverFacts, KindTotals};
use std::collections::BTreeSet;
use workloads::dataset::Dataset;

mod list {
    use crate::made_up;

    workloads::workloads! { made_up::MadeUp }
}
use list::AnyWorkload;

impl HasDataset for AnyWorkload {
    fn dataset(&self) -> &dyn Dataset {
        self.dataset()
    }
}

const CUSTOMERS: u32 = 6;

fn made_up() -> AnyWorkload {
    AnyWorkload::from_table(made_up::KIND, &serde_json::Map::new()).unwrap()
}

fn plan(workload: &AnyWorkload) -> DrivePlan {
    let load = LoadPhase::timed(Pacing::Clients { clients: CUSTOMERS }, 500, 1_500);
    DrivePlan { shards: 2, retries: 10, receipts: Receipts::Told, ..DrivePlan::of(workload.script(load), 5) }
}

#[test]
fn three_phases_and_two_actors_on_sqlite() {
    on("sqlite");
}

#[test]
fn three_phases_and_two_actors_on_postgres() {
    on("postgres");
}

#[test]
fn three_phases_and_two_actors_on_mariadb() {
    on("mariadb");
}

fn on(engine: &str) {
    let Some(database) = database_or_skip(engine, made_up()) else { return };
    let plan = plan(&database.workload);
    let (mut receipts, mut seconds) = (Vec::new(), Vec::new());
    let driven =
        drive_endpoint(&database.workload, database.endpoint(), &plan, &Control::default(), &mut |seen| match seen {
            SeenProgress::Receipts(more) => receipts.extend(more),
            SeenProgress::Second(second) => seconds.push(second.interval),
            SeenProgress::Ready | SeenProgress::Tick(_) => {}
        })
        .unwrap();
    let facts = &driven.facts;
    assert!(facts.errors.is_empty(), "who learns from answers is never told otherwise: {:?}", facts.errors);
    each_phase_ended_as_planned(facts);
    seconds_are_those_of_the_phases(facts, &seconds);
    everybody_was_told_the_truth(&database, facts, &receipts);
    what_was_caused_was_done(&database, facts);
    for step in [LOOK, WRITE] {
        let step = &facts.kinds[usize::from(step)];
        assert!(step.step);
        assert_eq!(step.committed, facts.kinds[usize::from(DEPOSIT)].committed, "{}", step.kind);
    }
    assert_eq!(facts.work.transactions, finished(facts, &[DEPOSIT, CONFIRM, CLOSE]), "steps are no transactions");
}

fn finished(facts: &DriverFacts, kinds: &[u16]) -> u64 {
    kinds.iter().map(|kind| facts.kinds[usize::from(*kind)].finished()).sum()
}

fn each_phase_ended_as_planned(facts: &DriverFacts) {
    let ends: Vec<_> = facts.phases.iter().map(|phase| (phase.name.as_str(), phase.ended)).collect();
    assert_eq!(ends, [("fill", PhaseEnd::Streams), ("load", PhaseEnd::Time), ("settle", PhaseEnd::Streams)]);
    let deposits: Vec<u64> = facts.phases.iter().map(|phase| phase.kinds[usize::from(DEPOSIT)].committed).collect();
    assert_eq!(deposits[0], u64::from(CUSTOMERS * FILLED_BY_EACH));
    assert_eq!(deposits[2], u64::from(CUSTOMERS * SETTLED_BY_EACH));
    assert!(deposits[1] > 0);
    assert_eq!(facts.phases[1].measured_ms, 2_000, "whole seconds");
    assert_eq!(facts.measured_ms, facts.phases.iter().map(|phase| phase.measured_ms).sum::<u64>());
    let starts: Vec<u64> = facts.phases.iter().map(|phase| phase.start_ms % 1_000).collect();
    assert_eq!(starts, [0, 0, 0], "all phases are on one grid of seconds");
    let lasts = facts
        .phases
        .windows(2)
        .all(|pair| pair[1].start_ms >= pair[0].start_ms + pair[0].warmup_ms + pair[0].measured_ms);
    assert!(lasts, "none begins before the last one has ended: {:?}", facts.phases);
}

fn seconds_are_those_of_the_phases(facts: &DriverFacts, seconds: &[Interval]) {
    let measured = || seconds.iter().filter(|second| second.measured);
    assert_eq!(measured().map(|second| second.length_ms).sum::<u64>(), facts.measured_ms);
    let ends = seconds.windows(2).all(|pair| pair[1].start_ms >= pair[0].start_ms + pair[0].length_ms);
    assert!(ends, "seconds do not overlap");
    for kind in [DEPOSIT, CONFIRM, LOOK] {
        let parts = measured().flat_map(|second| &second.kinds);
        let counts = parts.filter(|part| part.kind == kind && part.span == record::intervals::Span::Response);
        let logged: u64 = counts.flat_map(|part| &part.counts).map(|(_, count)| u64::from(*count)).sum();
        assert_eq!(logged, finished(facts, &[kind]));
    }
}

/// Each receipt stands for a deposit in the database, and there are no other deposits.
fn everybody_was_told_the_truth(database: &Loaded<AnyWorkload>, facts: &DriverFacts, receipts: &[Receipt]) {
    assert_eq!(receipts.len() as u64, facts.whole_run[usize::from(DEPOSIT)].committed);
    let told: BTreeSet<Vec<i64>> = receipts.iter().map(|receipt| receipt.numbers[..3].to_vec()).collect();
    assert_eq!(told.len(), receipts.len(), "nobody is told the same twice");
    let state = database.state();
    assert_eq!((state["deposits"], state["phases"]), (i64::try_from(told.len()).unwrap(), 3));
}

/// Clerks confirm all deposits, except those due only after their phase had ended, and close their books.
fn what_was_caused_was_done(database: &Loaded<AnyWorkload>, facts: &DriverFacts) {
    let whole = |kind: u16| facts.whole_run[usize::from(kind)].committed;
    let deferred = facts.deferred.unwrap();
    assert_eq!((deferred.failed, deferred.turned_away, deferred.held_up), (0, 0, 0), "{deferred:?}");
    assert_eq!(deferred.done, whole(CONFIRM) + whole(CLOSE));
    let left = deferred.not_due + deferred.abandoned;
    let state = database.state();
    assert_eq!(state["confirmed"].unsigned_abs(), whole(CONFIRM));
    assert_eq!(state["closed"], BATCH * i64::try_from(whole(CLOSE)).unwrap());
    assert!(whole(CONFIRM) > 0 && whole(CLOSE) > 0, "{:?}", facts.whole_run);
    assert!(whole(CONFIRM) + left >= whole(DEPOSIT) && whole(CONFIRM) <= whole(DEPOSIT), "{deferred:?}");
    assert!(left < whole(DEPOSIT), "what the last moments of three phases caused: {deferred:?}");
}

/// Of the three phases, two end with their streams, so nobody knows beforehand when the next one can begin.
#[test]
fn databases_of_one_machine_are_driven_at_once_and_each_adds_up() {
    let all: Vec<_> = ["sqlite", "postgres"].iter().filter_map(|engine| database_or_skip(engine, made_up())).collect();
    let plan = DrivePlan { receipts: Receipts::None, ..plan(&all[0].workload) };
    let of = u16::try_from(all.len()).unwrap();
    let with_plan = |(instance, database): (u16, &Loaded<AnyWorkload>)| {
        (database.endpoint().clone(), instances::share_of(&plan, instance, of))
    };
    let databases: Vec<_> = (0..).zip(&all).map(with_plan).collect();
    let (mut told, mut ticks, mut readies) = (vec![0; all.len()], 0, 0);
    let driven = drive_all(&all[0].workload, &databases, &Control::default(), &mut |instance, seen| match seen {
        SeenProgress::Ready => readies += 1,
        SeenProgress::Tick(tick) => ticks += tick.counted * u64::from(tick.measured),
        SeenProgress::Second(second) if !second.interval.measured => {}
        SeenProgress::Second(second) => told[usize::from(instance)] += second.totals[usize::from(DEPOSIT)].committed,
        SeenProgress::Receipts(_) => panic!("nobody asked for them"),
    });
    let driven = driven.unwrap();
    assert_eq!((driven.len(), readies), (all.len(), 3), "each phase begins once for all");
    let starts = |driven: &Driven| driven.facts.phases.iter().map(|phase| phase.start_ms).collect::<Vec<_>>();
    for (((database, own), told), number) in all.iter().zip(&driven).zip(told).zip(0..) {
        let state = database.state();
        let whole = |kind: u16| own.facts.whole_run[usize::from(kind)].committed;
        assert_eq!(state["deposits"].unsigned_abs(), whole(DEPOSIT), "of instance {number}");
        assert_eq!(state["confirmed"].unsigned_abs(), whole(CONFIRM), "of instance {number}");
        let customers: Vec<_> = own.facts.phases.iter().map(|phase| phase.streams[0].pacing.clients()).collect();
        assert_eq!(customers, [CUSTOMERS / u32::from(of); 3], "timed and counted phases are shared");
        assert_eq!(told, own.facts.kinds[usize::from(DEPOSIT)].committed, "its seconds are its own");
        assert_eq!(starts(own), starts(&driven[0]), "all begin each phase in the same second");
    }
    assert_ne!(driven[0].facts.whole_run, driven[driven.len() - 1].facts.whole_run);
    let sum = |kinds: fn(&DriverFacts) -> &[KindTotals]| -> u64 {
        driven.iter().map(|own| kinds(&own.facts)[usize::from(DEPOSIT)].committed).sum()
    };
    let (timed, all) = (sum(|facts| &facts.phases[1].kinds), sum(|facts| &facts.kinds));
    // A tick is read at the end of its second, and of each customer one transaction may be between its end and the count of it.
    let missing_max = u64::from(CUSTOMERS);
    assert!(
        (timed - missing_max..=all).contains(&ticks),
        "{ticks} of {timed} to {all}: a second that a phase does not fill has no tick"
    );
    let together = together(driven).unwrap();
    assert_eq!((together.facts.clients, together.facts.phases.len()), (CUSTOMERS, 3));
}

#[test]
fn a_database_that_fails_stops_those_beside_it_and_is_named() {
    let database = Loaded::of("sqlite", made_up());
    let empty = tempfile::tempdir().unwrap();
    let mut nowhere = database.endpoint().clone();
    if let Endpoint::Sqlite(file) = &mut nowhere {
        file.file = empty.path().join("none/there.db");
    }
    let plan = plan(&database.workload);
    let databases = [database.endpoint().clone(), nowhere].map(|endpoint| (endpoint, plan.clone()));
    let error = drive_all(&database.workload, &databases, &Control::default(), &mut |_, _| ()).unwrap_err().to_string();
    assert!(error.starts_with("instance 2: session "), "{error}");
}

#[test]
fn two_load_generators_are_as_one() {
    let Some(database) = database_or_skip("postgres", made_up()) else { return };
    let plan = plan(&database.workload);
    let (workload, endpoint) = (&database.workload, database.endpoint());
    let generator = |number| {
        let plan = DrivePlan { generator: Generator { number, of: 2 }, ..plan.clone() };
        drive_endpoint(workload, endpoint, &plan, &Control::default(), &mut |_| ()).unwrap()
    };
    let parts = std::thread::scope(|scope| {
        let generator = &generator;
        let threads: Vec<_> = [0, 1].map(|number| scope.spawn(move || generator(number))).into();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(parts.iter().all(|part| part.facts.clients == CUSTOMERS / 2), "each drives its half");
    let whole = together(parts).unwrap();
    assert_eq!((whole.facts.clients, whole.facts.pacing), (CUSTOMERS, Some(Pacing::Clients { clients: CUSTOMERS })));
    let fill = &whole.facts.phases[0];
    assert_eq!(fill.kinds[usize::from(DEPOSIT)].committed, u64::from(CUSTOMERS * FILLED_BY_EACH));
    let state = database.state();
    assert_eq!(state["deposits"].unsigned_abs(), whole.facts.whole_run[usize::from(DEPOSIT)].committed);
    assert_eq!(state["confirmed"].unsigned_abs(), whole.facts.whole_run[usize::from(CONFIRM)].committed);
    assert!(whole.facts.errors.is_empty(), "no two of them have the same customer: {:?}", whole.facts.errors);
    let (logged, done) = (whole.seconds.iter().map(|second| second.counted).sum::<u64>(), &whole.facts.kinds);
    assert_eq!(logged, done[usize::from(DEPOSIT)].committed);
}
