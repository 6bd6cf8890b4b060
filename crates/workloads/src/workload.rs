//! What the load engine needs from a workload.

use crate::effects::Effects;
use engines::session::{Session, SessionError};
use engines::statement::{Dialect, Statement};
use record::script::LoadPhase;
use std::time::Duration;

/// A kind of transaction, or a step of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionKind {
    pub name: &'static str,
    /// Whether the workload's throughput figure counts this kind.
    pub counted: bool,
    /// A step: a part of transactions that is timed by itself.
    pub step: bool,
}

impl TransactionKind {
    pub const fn transaction(name: &'static str, counted: bool) -> Self {
        Self { name, counted, step: false }
    }

    pub const fn step(name: &'static str) -> Self {
        Self { name, counted: false, step: true }
    }

    /// A transaction that is counted, and its steps.
    pub const fn with_steps<const COUNT: usize>(names: &[&'static str]) -> [Self; COUNT] {
        let mut kinds = Self::all(names, 1);
        let mut place = 1;
        while place < COUNT {
            kinds[place] = Self::step(names[place]);
            place += 1;
        }
        kinds
    }

    /// Kinds with these names; the first `counted` of them are counted.
    pub const fn all<const COUNT: usize>(names: &[&'static str], counted: usize) -> [Self; COUNT] {
        let mut kinds = [Self::transaction("", false); COUNT];
        let mut place = 0;
        while place < COUNT {
            kinds[place] = Self::transaction(names[place], place < counted);
            place += 1;
        }
        kinds
    }
}

/// How a transaction ended, if the database did not refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Committed,
    /// Rolled back because the workload demands it.
    RolledBack,
}

/// A population of users that do the same work: customers, terminals, a market that answers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actor {
    pub name: &'static str,
    /// Whether other actors' transactions cause its work. If so, it has sessions of its own for that and needs no pacing.
    pub reacts: bool,
    /// The number of its users, if it reacts and its transactions belong to certain users. Otherwise the pacing gives the number.
    pub users: u32,
    /// Whether its users finish their work by themselves.
    pub ends: bool,
}

impl Actor {
    /// Users whose pacing a phase decides, and who go on for as long as the phase lasts.
    pub const fn paced(name: &'static str) -> Self {
        Self { name, reacts: false, users: 0, ends: false }
    }

    /// Users whose pacing a phase decides, and who stop when each has finished its work.
    pub const fn ending(name: &'static str) -> Self {
        Self { ends: true, ..Self::paced(name) }
    }

    /// An actor whose work other actors cause.
    pub const fn reacting(name: &'static str, users: u32) -> Self {
        Self { reacts: true, users, ..Self::paced(name) }
    }
}

/// The user whose inputs are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    pub seed: u64,
    /// Which phase of the script, from 0.
    pub phase: u16,
    /// Index into [`Workload::actors`].
    pub actor: u16,
    /// Which of the actor's users, from 0.
    pub index: u32,
    /// Whether nothing counts that it does. Its work has no end, and each piece of it takes about a second at most: it keeps the
    /// database busy while others are still at work.
    pub is_filler: bool,
}

impl User {
    /// A user of the first actor in the first phase.
    pub fn first(seed: u64, index: u32) -> Self {
        Self { seed, phase: 0, actor: 0, index, is_filler: false }
    }
}

/// How long a client types before a transaction and thinks after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pause {
    /// Before the transaction, which becomes due when typing ends.
    pub keying: Duration,
    /// After the answer.
    pub thinking: Duration,
}

/// A workload as the driver runs it. It is generic, so that a transaction is straight-line code without indirection.
#[allow(async_fn_in_trait)]
pub trait Workload: Sync {
    /// All random inputs of one transaction: running it again with the same input repeats it. It must be `Send`,
    /// since another thread may execute other actors' transactions.
    type Input: Send;
    /// State of one user: its random stream, its deck of cards, its home. There may be hundreds of thousands, and a
    /// terminal's state is copied once for each transaction, so it should be small and own no heap.
    type Client: Clone;

    /// Names of the counters. Only the workload's own audit uses those that begin with `audit.`.
    const COUNTERS: &'static [&'static str];
    /// Whether its users can be fillers ([`User::is_filler`]).
    const FILLS: bool = false;
    /// Whether its SQL is ours, so that sessions set what it relies on.
    const OWN_SQL: bool = true;

    fn kinds(&self) -> &'static [TransactionKind];
    /// The actors. A study's load describes the first of them.
    fn actors(&self) -> &'static [Actor] {
        const { &[Actor::paced("clients")] }
    }
    /// The phases to drive for a study's load: only that, unless the workload has phases or paced actors of its own.
    fn script(&self, load: LoadPhase) -> Vec<LoadPhase> {
        vec![load]
    }
    /// All statements in the order of their ids, in this dialect.
    fn statements(&self, dialect: Dialect) -> Vec<Statement>;
    /// The same user gets the same inputs, whatever the engine or the timing, except where answers decide them.
    fn client(&self, user: User) -> Self::Client;
    /// The next transaction; `None` once the user has finished. Only users of an actor with `ends` finish.
    fn next(&self, client: &mut Self::Client) -> Option<Self::Input>;
    /// Index into [`Workload::kinds`].
    fn kind(&self, input: &Self::Input) -> u16;
    /// Index of the actor that executes it. If another actor's user drew it, that user only hands it over and goes
    /// on, while a session of this actor executes it.
    fn performer(&self, _input: &Self::Input) -> u16 {
        0
    }
    /// The client's pauses around the transaction that was drawn last. `terminal` says whether the plan paces by
    /// terminals, where users type and think. Otherwise only a think time that the workload itself demands counts.
    fn pause(&self, _client: &mut Self::Client, _input: &Self::Input, _terminal: bool) -> Pause {
        Pause::default()
    }
    /// Begins, executes and ends one transaction. After an error the transaction may still be open, and the caller
    /// rolls it back; after a result it is closed.
    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Self::Input,
        effects: &mut Effects<'_, Self::Input>,
    ) -> Result<Ending, SessionError>;
    /// Called after a transaction ended well. It keeps for the user what later inputs need of the answers
    /// ([`Effects::receipt`]), and causes what follows from them.
    fn learn(&self, _client: &mut Self::Client, _input: &Self::Input, _effects: &mut Effects<'_, Self::Input>) {}
    /// Whether this is only news for a user: what [`note`](Self::note) takes in, without a transaction of its own.
    fn is_note(&self, _input: &Self::Input) -> bool {
        false
    }
    /// Lets a user of a reacting actor know something that another's transaction causes. It comes on the thread where the
    /// user lives, as soon as that thread sees it; `after` of such a [`FollowUp`](crate::effects::FollowUp) has no meaning.
    fn note(&self, _client: &mut Self::Client, _input: Self::Input) {}
}
