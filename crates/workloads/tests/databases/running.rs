//! Runs the clients of any workload on a real database, each with a thread and a session of its own.

use crate::database::Database;
use engines::catalog::{ConnectVisitor, connect};
use engines::session::{Connect, Session, SessionError};
use engines::wait::block_on;
use record::trial::KindTotals;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;
use workloads::effects::{Effects, Tally};
use workloads::workload::{Ending, User, Workload};

const SEED: u64 = 7;
/// Nothing here waits long; the limit is for a server that hangs.
const LIMIT: Duration = Duration::from_mins(2);

/// What clients got acknowledged: totals by kind, and the workload's counters.
pub type Told = (Vec<KindTotals>, BTreeMap<String, u64>);

/// Runs this many clients at the same time, with this many transactions each.
pub fn run<W: Workload>(database: &Database, workload: &W, clients: u32, transactions: u32) -> Told {
    run_these(database, workload, 0..clients, transactions)
}

/// Runs the clients with these numbers.
pub fn run_these<W: Workload>(database: &Database, workload: &W, clients: Range<u32>, transactions: u32) -> Told {
    run_actor(database, workload, 0, clients, transactions)
}

/// Runs the users of an actor with these numbers, each until it has finished or has done so many transactions.
pub fn run_actor<W: Workload>(
    database: &Database,
    workload: &W,
    actor: u16,
    clients: Range<u32>,
    transactions: u32,
) -> Told {
    let running = Running { workload, actor, clients, transactions };
    let clients = connect(&database.endpoint, workload.statements(database.dialect()), running);
    let mut totals: Vec<KindTotals> = workload
        .kinds()
        .iter()
        .map(|kind| KindTotals { kind: kind.name.to_owned(), ..KindTotals::default() })
        .collect();
    let mut tally = Tally::new(W::COUNTERS.len());
    for client in &clients {
        tally.absorb(&client.tally);
        for (total, (committed, rolled_back)) in totals.iter_mut().zip(&client.ended) {
            total.committed += committed;
            total.rolled_back += rolled_back;
        }
    }
    let named = W::COUNTERS.iter().map(|name| (*name).to_owned()).zip(tally.0).collect();
    (totals, named)
}

struct Running<'a, W> {
    workload: &'a W,
    actor: u16,
    clients: Range<u32>,
    transactions: u32,
}

impl<W: Workload> ConnectVisitor for Running<'_, W> {
    type Answer = Vec<Client>;

    fn visit<C: Connect + Sync>(self, connect: &C) -> Vec<Client> {
        let Self { workload, actor, clients, transactions } = self;
        std::thread::scope(|scope| {
            let user = |index| User { actor, ..User::first(SEED, index) };
            let run = |index| scope.spawn(move || Client::run(connect, workload, user(index), transactions));
            let clients: Vec<_> = clients.map(run).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        })
    }
}

struct Client {
    tally: Tally,
    /// Committed and rolled back, by kind.
    ended: Vec<(u64, u64)>,
}

impl Client {
    fn run<W: Workload, C: Connect>(connect: &C, workload: &W, user: User, transactions: u32) -> Self {
        let mut session = connect.connect().unwrap();
        let mut client = workload.client(user);
        let mut done = Self { tally: Tally::new(W::COUNTERS.len()), ended: vec![(0, 0); workload.kinds().len()] };
        for _ in 0..transactions {
            let Some(input) = workload.next(&mut client) else { break };
            let Ended { ending, tally, steps } = until_it_ends(&mut session, workload, &input);
            done.tally.absorb(&tally);
            for step in steps {
                done.ended[usize::from(step)].0 += 1;
            }
            let ended = &mut done.ended[usize::from(workload.kind(&input))];
            match ending {
                Ending::Committed => ended.0 += 1,
                Ending::RolledBack => ended.1 += 1,
            }
        }
        done
    }
}

struct Ended {
    ending: Ending,
    tally: Tally,
    /// Kinds of its steps.
    steps: Vec<u16>,
}

/// Runs a transaction, and repeats it as long as the database aborts it because of a conflict.
fn until_it_ends<W: Workload, S: Session>(session: &mut S, workload: &W, input: &W::Input) -> Ended {
    let descriptor = session.descriptor().map(|descriptor| descriptor.try_clone_to_owned().unwrap());
    let descriptor = || descriptor.as_ref().map(std::os::fd::AsFd::as_fd);
    let mut effects = Effects::new(W::COUNTERS.len(), &|| 1, &|_| ());
    for _ in 0..100 {
        match block_on(workload.run(session, input, &mut effects), descriptor(), LIMIT) {
            Ok(ending) => {
                effects.end_step();
                let steps = effects.steps().map(|step| step.kind).collect();
                return Ended { ending, tally: effects.tally, steps };
            }
            Err(SessionError::Retryable { .. }) => {
                block_on(session.rollback(), descriptor(), LIMIT).unwrap();
                effects.rewind();
            }
            Err(error) => panic!("{}: {error}", workload.kinds()[usize::from(workload.kind(input))].name),
        }
    }
    panic!("given up a hundred times: {}", workload.kinds()[usize::from(workload.kind(input))].name);
}
