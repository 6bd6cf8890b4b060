//! From an empty server to a checked trial.

use crate::database::Database;
use crate::effects;
use engines::catalog::{AnyConnect, connect};
use engines::session::{Connect, Session, SessionError};
use engines::wait::block_on;
use record::check::{Finding, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;
use std::time::Duration;
use workloads::checksum;
use workloads::dataset::{Dataset, Part};
use workloads::order_entry::{Delivery, OrderEntry, Settings};
use workloads::workload::{Ending, Tally, Workload};

/// Two, so that there is another warehouse to order from.
const WAREHOUSES: u32 = 2;
const CLIENTS: u32 = 4;
const TRANSACTIONS_PER_CLIENT: u32 = 1_000;
const SEED: u64 = 7;
/// Nothing here waits long; the limit is for a server that hangs.
const LIMIT: Duration = Duration::from_mins(2);

pub fn load_run_and_check(database: &Database) {
    let settings = Settings { warehouses: WAREHOUSES, delivery: Delivery::Inline, data_seed: 42 };
    let workload = OrderEntry::new(settings).unwrap();
    load(database, &workload);
    let mut admin = database.admin();
    all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterLoad).unwrap());

    let before = workload.state(admin.as_mut()).unwrap();
    let (totals, tally) = run(database, &workload);
    let after = workload.state(admin.as_mut()).unwrap();

    effects::are_as_they_should_be(admin.as_mut());
    all_hold(&workload.reconcile(&before, &after, &totals));
    all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterTrial).unwrap());
    let audit = workload.audit(&totals, &tally);
    all_hold(&audit);
    let undecided: Vec<_> =
        audit.iter().filter(|finding| matches!(finding.verdict, Verdict::Undecided { .. })).collect();
    assert!(undecided.is_empty(), "4000 transactions are enough to judge: {undecided:#?}");
    one_acknowledged_order_more_is_missed(&workload, &before, &after, totals);
}

/// Loads in uneven parts; what is stored must be what the generator makes in one, on every engine.
fn load(database: &Database, workload: &OrderEntry) {
    let mut admin = database.admin();
    admin.script(&workload.schema(database.dialect())).unwrap();
    for table in workload.tables() {
        let loaded: u64 = (0..3).map(|index| database.load(workload, table, Part { index, count: 3 })).sum();
        assert_eq!(loaded, workload.expected_rows(table), "{}", table.name);
    }
    admin.script(&workload.finish(database.dialect())).unwrap();
    for table in workload.tables() {
        let stored = checksum::stored(admin.as_mut(), table).unwrap();
        assert_eq!(stored, checksum::expected(workload, table, 2), "{}", table.name);
    }
}

fn all_hold(findings: &[Finding]) {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{violated:#?}");
}

/// Runs several clients at the same time, each on a thread and a session of its own.
fn run(database: &Database, workload: &OrderEntry) -> (Vec<KindTotals>, BTreeMap<String, u64>) {
    let connect = connect(&database.endpoint, workload.statements(database.dialect()));
    let clients: Vec<Client> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|index| match &connect {
                AnyConnect::Sqlite(connect) => scope.spawn(move || Client::run(connect, workload, index)),
                AnyConnect::Postgres(connect) => scope.spawn(move || Client::run(connect, workload, index)),
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let mut totals: Vec<KindTotals> = workload
        .kinds()
        .iter()
        .map(|kind| KindTotals { kind: kind.name.to_owned(), ..KindTotals::default() })
        .collect();
    let mut tally = Tally::new(OrderEntry::COUNTERS.len());
    for client in &clients {
        tally.absorb(&client.tally);
        for (total, (committed, rolled_back)) in totals.iter_mut().zip(&client.ended) {
            total.committed += committed;
            total.rolled_back += rolled_back;
        }
    }
    let named = OrderEntry::COUNTERS.iter().map(|name| (*name).to_owned()).zip(tally.0).collect();
    (totals, named)
}

struct Client {
    tally: Tally,
    /// Committed and rolled back, by kind.
    ended: Vec<(u64, u64)>,
}

impl Client {
    fn run<C: Connect>(connect: &C, workload: &OrderEntry, index: u32) -> Self {
        let mut session = connect.connect().unwrap();
        let mut client = workload.client(SEED, index);
        let mut done =
            Self { tally: Tally::new(OrderEntry::COUNTERS.len()), ended: vec![(0, 0); workload.kinds().len()] };
        for _ in 0..TRANSACTIONS_PER_CLIENT {
            let input = workload.next(&mut client);
            let ended = &mut done.ended[usize::from(workload.kind(&input))];
            let (ending, tally) = until_it_ends(&mut session, workload, &input);
            done.tally.absorb(&tally);
            match ending {
                Ending::Committed => ended.0 += 1,
                Ending::RolledBack => ended.1 += 1,
            }
        }
        done
    }
}

/// Runs a transaction, again as often as the database gives it up for another's sake.
fn until_it_ends<S: Session>(
    session: &mut S,
    workload: &OrderEntry,
    input: &<OrderEntry as Workload>::Input,
) -> (Ending, Tally) {
    let descriptor = session.descriptor().map(|descriptor| descriptor.try_clone_to_owned().unwrap());
    let descriptor = || descriptor.as_ref().map(std::os::fd::AsFd::as_fd);
    for _ in 0..100 {
        let mut tally = Tally::new(OrderEntry::COUNTERS.len());
        match block_on(workload.run(session, input, &mut tally), descriptor(), LIMIT) {
            Ok(ending) => return (ending, tally),
            Err(SessionError::Retryable { .. }) => block_on(session.rollback(), descriptor(), LIMIT).unwrap(),
            Err(error) => panic!("{input:?}: {error}"),
        }
    }
    panic!("given up a hundred times: {input:?}");
}

/// The ledger can tell: one order acknowledged that is not in the database is a violation.
fn one_acknowledged_order_more_is_missed(
    workload: &OrderEntry,
    before: &BTreeMap<String, i64>,
    after: &BTreeMap<String, i64>,
    mut totals: Vec<KindTotals>,
) {
    totals[0].committed += 1;
    let findings = workload.reconcile(before, after, &totals);
    let violated: Vec<_> =
        findings.iter().filter(|finding| finding.is_violated()).map(|finding| &finding.name).collect();
    assert_eq!(violated, ["order-entry/acknowledged-orders", "order-entry/stored-orders"]);
}
