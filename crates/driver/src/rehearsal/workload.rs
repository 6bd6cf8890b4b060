//! A workload whose transactions are one statement each. It remembers what it was asked to run.

use engines::session::{Access, Session, SessionError};
use engines::statement::{Dialect, Statement, StatementId};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;
use workloads::effects::{Effects, FollowUp};
use workloads::workload::{Actor, Ending, Pause, TransactionKind, User, Workload};

pub const KINDS: [TransactionKind; 2] =
    [TransactionKind::transaction("sale", true), TransactionKind::transaction("delivery", false)];
pub const COUNTERS: &[&str] = &["lines"];

const ACTORS: &[Actor] = &[Actor::paced("clients"), Actor::reacting("deliveries", 0)];
/// The same, if deliveries belong to a user who gets a note of each sale.
const TOLD: &[Actor] = &[Actor::paced("clients"), Actor::reacting("deliveries", 1)];
/// Some users beside the clients.
const BESIDE: &[Actor] = &[Actor::paced("clients"), Actor::paced("upkeep")];
const ENDING: &[Actor] = &[Actor::ending("clients")];

/// Statement ids equal the kind's index, so that a script can distinguish them.
pub const SALE: u16 = 0;
pub const DELIVERY: u16 = 1;
/// No transaction, but a note of a sale to a user.
const NOTE: u16 = 2;

/// The numbers of transactions that only keep the database busy.
pub const FILLING: u32 = 1 << 31;

/// More than any virtual run makes. Tests on real threads do not look at it.
const REMEMBERED_MAX: usize = 300_000;

/// Who works beside the clients.
#[derive(Default, PartialEq, Eq)]
enum Others {
    #[default]
    WhoDeliver,
    /// Deliveries belong to an actor that others may not cause work for.
    WhoDoNotReact,
    /// It paces another actor itself.
    Upkeep,
}

#[derive(Default)]
pub struct RehearsedWorkload {
    /// One of this many transactions of a client is deferred; 0 means none is.
    pub deferred_every: u32,
    /// One of this many transactions of a client rolls back on purpose; 0 means none does.
    pub rollback_every: u32,
    /// Each sale causes a delivery after this time.
    causes_after: Option<Duration>,
    /// The user of the deliveries gets a note of each sale before that.
    tells: bool,
    others: Others,
    /// Each client ends after this many transactions; 0 means that none ever ends.
    ends_after: u32,
    /// Pauses at a terminal; clients without one only think.
    pub keying: Duration,
    pub thinking: Duration,
    /// Think times are exponential around `thinking` instead of constant.
    pub thinking_varies: bool,
    attempts: Mutex<Vec<Input>>,
    /// For each delivery: how many sales its user knew of, and the nanoseconds between its due moment and its end.
    pub known: Mutex<Vec<(u32, u64)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    pub client: u32,
    pub number: u32,
    /// Something random, from the client's own stream.
    pub draw: u64,
    pub kind: u16,
    /// The actor whose user drew it.
    actor: u16,
}

#[derive(Clone)]
pub struct ScriptedClient {
    actor: u16,
    index: u32,
    number: u32,
    state: u64,
}

impl RehearsedWorkload {
    pub fn rolling_back(rollback_every: u32) -> Self {
        Self { rollback_every, ..Self::default() }
    }

    pub fn deferring(deferred_every: u32) -> Self {
        Self { deferred_every, ..Self::default() }
    }

    pub fn ending(ends_after: u32) -> Self {
        Self { ends_after, ..Self::default() }
    }

    pub fn misdirecting() -> Self {
        Self { others: Others::WhoDoNotReact, ..Self::deferring(10) }
    }

    pub fn causing(after: Duration) -> Self {
        Self { causes_after: Some(after), ..Self::default() }
    }

    pub fn with_upkeep(thinking_ms: u64) -> Self {
        Self { others: Others::Upkeep, ..Self::pausing(0, thinking_ms) }
    }

    pub fn telling(after: Duration) -> Self {
        Self { tells: true, ..Self::causing(after) }
    }

    pub fn pausing(keying_ms: u64, thinking_ms: u64) -> Self {
        let (keying, thinking) = (Duration::from_millis(keying_ms), Duration::from_millis(thinking_ms));
        Self { keying, thinking, ..Self::default() }
    }

    /// Every attempt, in the order in which they began.
    pub fn attempts(&self) -> Vec<Input> {
        self.attempts.lock().unwrap().clone()
    }

    fn remember(&self, input: Input) {
        let mut attempts = self.attempts.lock().unwrap();
        if attempts.len() < REMEMBERED_MAX {
            attempts.push(input);
        }
    }

    pub fn attempts_by_client(&self) -> BTreeMap<u32, Vec<Input>> {
        let mut by_client = BTreeMap::<u32, Vec<Input>>::new();
        for input in self.attempts() {
            by_client.entry(input.client).or_default().push(input);
        }
        by_client
    }
}

fn every(count: u32, number: u32) -> bool {
    count > 0 && number % count == count - 1
}

impl Workload for RehearsedWorkload {
    type Input = Input;
    type Client = ScriptedClient;
    const COUNTERS: &'static [&'static str] = COUNTERS;
    const FILLS: bool = true;

    fn kinds(&self) -> &'static [TransactionKind] {
        &KINDS
    }

    fn statements(&self, _dialect: Dialect) -> Vec<Statement> {
        Vec::new()
    }

    fn actors(&self) -> &'static [Actor] {
        if self.others == Others::WhoDoNotReact {
            const { &[Actor::paced("clients"), Actor::paced("deliveries")] }
        } else if self.others == Others::Upkeep {
            BESIDE
        } else if self.tells {
            TOLD
        } else if self.ends_after > 0 {
            ENDING
        } else if self.deferred_every > 0 || self.causes_after.is_some() {
            ACTORS
        } else {
            &ACTORS[..1]
        }
    }

    fn client(&self, User { seed, index, actor, is_filler, .. }: User) -> ScriptedClient {
        ScriptedClient {
            actor,
            index,
            number: if is_filler { FILLING } else { 0 },
            state: seed ^ (u64::from(index) << 32),
        }
    }

    fn next(&self, client: &mut ScriptedClient) -> Option<Input> {
        if self.ends_after > 0 && client.number == self.ends_after {
            return None;
        }
        client.state = client.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let kind = if every(self.deferred_every, client.number) { DELIVERY } else { SALE };
        let input =
            Input { client: client.index, number: client.number, draw: client.state, kind, actor: client.actor };
        client.number += 1;
        Some(input)
    }

    fn kind(&self, input: &Input) -> u16 {
        input.kind
    }

    fn performer(&self, input: &Input) -> u16 {
        if self.others == Others::Upkeep { input.actor } else { u16::from(input.kind != SALE) }
    }

    fn pause(&self, _client: &mut ScriptedClient, input: &Input, terminal: bool) -> Pause {
        let chance = ((input.draw >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
        let times = if self.thinking_varies { -chance.ln() } else { 1.0 };
        let keying = if terminal { self.keying } else { Duration::ZERO };
        Pause { keying, thinking: self.thinking.mul_f64(times) }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Input,
        effects: &mut Effects<'_, Input>,
    ) -> Result<Ending, SessionError> {
        self.remember(*input);
        session.begin(Access::ReadWrite).await?;
        effects.tally.add(0, 10);
        session.execute(StatementId(input.kind), &[]).await?;
        if every(self.rollback_every, input.number) {
            return Ok(Ending::RolledBack);
        }
        Ok(Ending::Committed)
    }

    fn learn(&self, client: &mut ScriptedClient, input: &Input, effects: &mut Effects<'_, Input>) {
        if let (Some(after), SALE) = (self.causes_after, input.kind) {
            let user = self.tells.then_some(0);
            if self.tells {
                effects.cause(FollowUp { input: Input { kind: NOTE, ..*input }, after, user });
            }
            effects.cause(FollowUp { input: Input { kind: DELIVERY, ..*input }, after, user });
        } else if self.tells {
            self.known.lock().unwrap().push((client.number, effects.now_ns() - effects.due_ns()));
        }
    }

    fn is_note(&self, input: &Input) -> bool {
        input.kind == NOTE
    }

    fn note(&self, client: &mut ScriptedClient, _: Input) {
        client.number += 1;
    }
}
