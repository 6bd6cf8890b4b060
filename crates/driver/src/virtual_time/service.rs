//! How long transactions take in a rehearsal, and the workload whose transactions take these times instead of being
//! executed.

use super::world::{RequestKind, Script, WorldAnswer};
use crate::clock::Nanos;
use engines::session::{Session, SessionError};
use engines::statement::{Dialect, Statement, StatementId};
use record::script::LoadPhase;
use std::cell::RefCell;
use std::time::Duration;
use workloads::effects::Effects;
use workloads::random::RandomStream;
use workloads::workload::{Actor, Ending, Pause, TransactionKind, User, Workload};

/// If transactions took no time at all, the virtual clock would stand still for clients that do not pause.
const SHORTEST: Nanos = Nanos::from_micros(1);

/// How long the transactions of each kind take, at least a microsecond.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceTimes {
    /// By the kind's index; further kinds take as long as the last.
    times: Vec<Duration>,
    spread: f64,
}

impl ServiceTimes {
    /// All kinds take the same time.
    pub fn of_all(time: Duration) -> Self {
        Self { times: vec![time], spread: 0.0 }
    }

    /// Each kind takes a time of its own, by its index; further kinds take as long as the last.
    pub fn of_kinds(times: Vec<Duration>) -> Self {
        Self { times, spread: 0.0 }
    }

    /// Lets single transactions take up to this share more or less than that. More and less are equally frequent,
    /// small differences are most frequent, and the same seed gives the same times.
    #[must_use]
    pub fn varied(self, spread: f64) -> Self {
        Self { spread: spread.clamp(0.0, 1.0), ..self }
    }

    /// A statement's number is that of the transaction's kind.
    pub(super) fn script(&self, seed: u64) -> Script {
        let times: Vec<Nanos> = self.times.iter().copied().map(Nanos::from_duration).collect();
        let last = times.last().copied().unwrap_or_default();
        let (spread, chance) = (self.spread, RefCell::new(RandomStream::new(seed, "service", [0, 0])));
        Box::new(move |call| {
            let RequestKind::Statement(kind) = call.asked else { return WorldAnswer::After(Nanos::ZERO) };
            let time = times.get(usize::from(kind)).copied().unwrap_or(last);
            WorldAnswer::After(varied(time, spread, &mut chance.borrow_mut()).max(SHORTEST))
        })
    }
}

/// Adds two evenly distributed numbers, because their sum is most often near its mean.
fn varied(time: Nanos, spread: f64, chance: &mut RandomStream) -> Nanos {
    let times = 1.0 + spread * (chance.fraction() + chance.fraction() - 1.0);
    // Between zero and twice the time.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Nanos((time.0 as f64 * times).round() as u64)
}

/// The workload with its clients unchanged; a transaction is one statement with the number of its kind.
pub struct TimedWorkload<'a, W>(pub &'a W);

impl<W: Workload> Workload for TimedWorkload<'_, W> {
    type Input = W::Input;
    type Client = W::Client;
    /// Nothing is really executed, so nothing is counted.
    const COUNTERS: &'static [&'static str] = &[];

    fn kinds(&self) -> &'static [TransactionKind] {
        self.0.kinds()
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        Vec::new()
    }

    fn actors(&self) -> &'static [Actor] {
        self.0.actors()
    }

    fn script(&self, load: LoadPhase) -> Vec<LoadPhase> {
        self.0.script(load)
    }

    fn client(&self, user: User) -> W::Client {
        self.0.client(user)
    }

    fn next(&self, client: &mut W::Client) -> Option<W::Input> {
        self.0.next(client)
    }

    fn kind(&self, input: &W::Input) -> u16 {
        self.0.kind(input)
    }

    fn performer(&self, input: &W::Input) -> u16 {
        self.0.performer(input)
    }

    fn pause(&self, client: &mut W::Client, input: &W::Input, terminal: bool) -> Pause {
        self.0.pause(client, input, terminal)
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &W::Input,
        _: &mut Effects<'_, W::Input>,
    ) -> Result<Ending, SessionError> {
        session.execute(StatementId(self.kind(input)), &[]).await?;
        Ok(Ending::Committed)
    }

    /// What users learn in a rehearsal lacks the answers, so they cause what follows from inputs alone.
    fn learn(&self, client: &mut W::Client, input: &W::Input, effects: &mut Effects<'_, W::Input>) {
        self.0.learn(client, input, effects);
    }

    fn is_note(&self, input: &W::Input) -> bool {
        self.0.is_note(input)
    }

    fn note(&self, client: &mut W::Client, input: W::Input) {
        self.0.note(client, input);
    }
}
