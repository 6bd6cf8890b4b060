//! Measures what a follow-up costs: the CPU time of a client's transaction without one and with one. The follow-up is
//! executed on the same thread, or it belongs to a user who lives on the only thread or on one of two. The database
//! answers at once, inside the driver, so all measured time is the driver's.
//!
//! `cargo run --release -p driver --example follow_ups` prints what docs/benchmarks.md quotes.

#![allow(clippy::print_stdout, reason = "this program is its output")]

use driver::drive;
use driver::error::DriveError;
use driver::plan::{Control, DrivePlan, Pacing};
use engines::session::{Access, Connect, Param, ResultSet, Session, SessionError, SessionWork};
use engines::statement::{Dialect, Statement, StatementId};
use rustix::fd::BorrowedFd;
use std::time::Duration;
use workloads::effects::{Effects, FollowUp};
use workloads::workload::{Actor, Ending, TransactionKind, User, Workload};

const WARMUP_MS: u64 = 1_000;
const MEASURE_MS: u64 = 4_000;
const CLIENTS: u32 = 16;
const MARKETS: u32 = 8;
const ROUNDS: u32 = 5;

struct AtOnce;

struct InstantSession {
    results: ResultSet,
    work: SessionWork,
}

impl Connect for AtOnce {
    type Session = InstantSession;

    fn connect(&self) -> Result<InstantSession, SessionError> {
        Ok(InstantSession { results: ResultSet::default(), work: SessionWork::default() })
    }
}

impl Session for InstantSession {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn begin(&mut self, _: Access) -> Result<(), SessionError> {
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    async fn execute(&mut self, _: StatementId, _: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        self.work.statements += 1;
        Ok(&self.results)
    }

    async fn execute_text(&mut self, _: &'static str, _: &str) -> Result<&ResultSet, SessionError> {
        self.execute(StatementId(0), &[]).await
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}

#[derive(Clone, Copy)]
enum Causes {
    Nothing,
    Here,
    ForAUser,
}

struct Orders(Causes);

/// `own` is true for a client's own order; `user` is the user of the market who answers it.
struct Input {
    own: bool,
    user: u32,
}

impl Workload for Orders {
    type Input = Input;
    type Client = u32;
    const COUNTERS: &'static [&'static str] = &[];

    fn kinds(&self) -> &'static [TransactionKind] {
        const { &[TransactionKind::transaction("order", true), TransactionKind::transaction("answer", false)] }
    }

    fn actors(&self) -> &'static [Actor] {
        const { &[Actor::paced("clients"), Actor::reacting("market", MARKETS)] }
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        Vec::new()
    }

    fn client(&self, user: User) -> u32 {
        user.index
    }

    fn next(&self, client: &mut u32) -> Option<Input> {
        *client = client.wrapping_add(1);
        Some(Input { own: true, user: *client % MARKETS })
    }

    fn kind(&self, input: &Input) -> u16 {
        u16::from(!input.own)
    }

    fn performer(&self, input: &Input) -> u16 {
        u16::from(!input.own)
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        _: &Input,
        _: &mut Effects<'_, Input>,
    ) -> Result<Ending, SessionError> {
        session.execute(StatementId(0), &[]).await?;
        Ok(Ending::Committed)
    }

    fn learn(&self, _: &mut u32, input: &Input, effects: &mut Effects<'_, Input>) {
        let user = match self.0 {
            Causes::Here => None,
            Causes::ForAUser => Some(input.user),
            Causes::Nothing => return,
        };
        if input.own {
            let answer = Input { own: false, user: input.user };
            effects.cause(FollowUp { input: answer, after: Duration::ZERO, user });
        }
    }
}

/// CPU nanoseconds for each transaction of a client, including what it causes.
fn cpu_ns_each(causes: Causes, shards: u32) -> Result<f64, DriveError> {
    let plan = DrivePlan::timed(Pacing::Clients { clients: CLIENTS }, WARMUP_MS, MEASURE_MS, 1);
    let plan = DrivePlan { shards, ..plan };
    let facts = drive(&Orders(causes), &AtOnce, &plan, &Control::default(), &mut |_| ())?.facts;
    Ok(facts.testimony.cpu_ns as f64 / facts.kinds[0].committed as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), DriveError> {
    let cases = [
        ("on the same thread", Causes::Here, 1),
        ("for a user, one thread", Causes::ForAUser, 1),
        ("for a user, two threads", Causes::ForAUser, 2),
    ];
    println!("CPU time in ns, medians of {ROUNDS} rounds. A follow-up is queued, executed and booked in it.\n");
    println!("{:>24} {:>14} {:>16} {:>18}", "", "a transaction", "with follow-up", "so the follow-up");
    for (name, causes, shards) in cases {
        let (mut alone, mut both) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            alone.push(cpu_ns_each(Causes::Nothing, shards)?);
            both.push(cpu_ns_each(causes, shards)?);
        }
        let differences = alone.iter().zip(&both).map(|(alone, both)| both - alone).collect();
        println!("{name:>24} {:>14.0} {:>16.0} {:>18.0}", median(alone), median(both), median(differences));
    }
    Ok(())
}
