//! What the load engine needs of a workload.

use engines::session::{Session, SessionError};
use engines::statement::{Dialect, Statement};
use std::time::Duration;

/// A kind of transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub name: &'static str,
    /// Whether this kind is the one counted in the workload's throughput figure.
    pub counted: bool,
}

impl Kind {
    /// Kinds of these names, the first so many of them counted.
    pub const fn all<const COUNT: usize>(names: &[&'static str], counted: usize) -> [Self; COUNT] {
        let mut kinds = [Self { name: "", counted: false }; COUNT];
        let mut place = 0;
        while place < COUNT {
            kinds[place] = Self { name: names[place], counted: place < counted };
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

/// Counters that a workload keeps about what was really executed, indexed as in [`Workload::COUNTERS`].
/// A transaction adds to a fresh tally; the driver adds that to the totals only if the transaction ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally(pub Vec<u64>);

impl Tally {
    pub fn new(counters: usize) -> Self {
        Self(vec![0; counters])
    }

    pub fn add(&mut self, counter: usize, amount: u64) {
        self.0[counter] += amount;
    }

    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    pub fn absorb(&mut self, other: &Self) {
        for (total, part) in self.0.iter_mut().zip(&other.0) {
            *total += part;
        }
    }
}

/// How long a client types before a transaction and thinks after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pause {
    /// Before the transaction: it becomes due when everything is typed.
    pub keying: Duration,
    /// After the answer.
    pub thinking: Duration,
}

/// A workload as the driver runs it. Generic, so that a transaction is straight-line code without indirection.
#[allow(async_fn_in_trait)]
pub trait Workload: Sync {
    /// The random inputs of one transaction, complete: running it again with the same input repeats it.
    type Input;
    /// State of one emulated client: its random stream, its deck of cards, its home. There may be hundreds of thousands,
    /// and terminals are copied once for each transaction, so it should be small and own no heap.
    type Client: Clone;

    /// Names of what is counted. Those that begin with `audit.` mean something to the workload's own audit only.
    const COUNTERS: &'static [&'static str];

    fn kinds(&self) -> &'static [Kind];
    /// All statements in the order of their ids, in the words of `dialect`.
    fn statements(&self, dialect: Dialect) -> Vec<Statement>;
    /// The same seed and index give the same stream of inputs, whatever the engine or the timing.
    fn client(&self, seed: u64, index: u32) -> Self::Client;
    fn next(&self, client: &mut Self::Client) -> Self::Input;
    /// Index into [`Workload::kinds`].
    fn kind(&self, input: &Self::Input) -> u16;
    /// Whether any transaction is ever deferred; only then does the driver open sessions for those.
    fn defers(&self) -> bool {
        false
    }
    /// Whether the client only queues this transaction and goes on, while a background session executes it.
    fn deferred(&self, _input: &Self::Input) -> bool {
        false
    }
    /// The client's pauses around the transaction that was drawn last. `terminal` says whether the plan paces by
    /// terminals, where users type and think; otherwise only a think time that the workload itself demands counts.
    fn pause(&self, _client: &mut Self::Client, _input: &Self::Input, _terminal: bool) -> Pause {
        Pause::default()
    }
    /// Begins, executes and ends one transaction. After an error the transaction may still be open, and it is the
    /// caller who rolls it back; after a result it is not.
    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Self::Input,
        tally: &mut Tally,
    ) -> Result<Ending, SessionError>;
}
