//! A bank: each customer deposits into an account of its own, and clerks confirm every deposit a little later. No study
//! uses it. It shows what a workload with several actors and phases takes: this folder, and its line in a list.

mod data;
mod transactions;

use engines::session::{Session, SessionError};
use engines::statement::{Dialect, Statement};
use record::script::{LoadPhase, PhaseLimit, UserStream};
use serde_json::{Map, Value};
use settings::Problem;
use std::time::Duration;
use workloads::condition::DataCheck;
use workloads::dataset::{DataTable, Dataset, RowSource, TablePart};
use workloads::effects::{Effects, FollowUp};
use workloads::entry::{ThroughputMetric, UNMEASURED, WorkloadEntry, WorkloadScripts};
use workloads::execution::Execution;
use workloads::judgement::Judgement;
use workloads::ledger::Ledger;
use workloads::workload::{Actor, Ending, Pause, TransactionKind, User, Workload};

pub const KIND: &str = "made-up";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "deposits and their confirmation",
    keys: &[],
    driving_keys: &[],
    own_phases: false,
    metric: ThroughputMetric { name: "deposits", unit: "deposits/s", per_ms: 1_000 },
    notice: "not comparable with anything",
    deviations: &[],
    scripts: WorkloadScripts { schema: data::SCHEMA, ..WorkloadScripts::NONE },
    stored: UNMEASURED,
};

pub const DEPOSIT: u16 = 0;
pub const CONFIRM: u16 = 1;
pub const CLOSE: u16 = 2;
pub const LOOK: u16 = 3;
pub const WRITE: u16 = 4;
const KINDS: &[TransactionKind] = &[
    TransactionKind::transaction("deposit", true),
    TransactionKind::transaction("confirm", false),
    TransactionKind::transaction("close", false),
    TransactionKind::step("look"),
    TransactionKind::step("write"),
];

/// Clerks are users with a state of their own: each counts its confirmations.
const CLERKS: u32 = 3;
const ACTORS: &[Actor] = &[Actor::paced("customers"), Actor::reacting("clerks", CLERKS)];
const CUSTOMERS: u16 = 0;

/// A clerk closes the books after this many confirmations.
pub const BATCH: i64 = 10;
/// How long a customer thinks between two deposits.
const THOUGHT: Duration = Duration::from_millis(10);
/// How long a clerk takes to notice a deposit.
const CONFIRMED_AFTER: Duration = Duration::from_millis(2);

pub const FILLED_BY_EACH: u32 = 20;
pub const SETTLED_BY_EACH: u32 = 5;
const PHASE_LIMIT_MS: u64 = 60_000;

#[derive(Debug)]
pub struct MadeUp {
    sums: Vec<Statement>,
}

impl MadeUp {
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        settings::check(table, ENTRY.keys).map(|_| Self { sums: data::sums() })
    }
}

#[derive(Clone)]
pub enum Client {
    Customer { account: i64, phase: i64, number: i64, balance: Option<i64> },
    Clerk { announced: i64, confirmed: i64 },
}

pub enum Input {
    /// Into the customer's own account, whose balance the customer knows from its last deposit.
    Deposit {
        account: i64,
        phase: i64,
        number: i64,
        known_balance: Option<i64>,
    },
    Confirm {
        account: i64,
        phase: i64,
        number: i64,
    },
    Close {
        confirmed: i64,
    },
    /// No transaction: a clerk is told that there will be something to confirm.
    Announce,
}

impl Workload for MadeUp {
    type Input = Input;
    type Client = Client;
    const COUNTERS: &'static [&'static str] = &["deposited"];

    fn kinds(&self) -> &'static [TransactionKind] {
        KINDS
    }

    fn actors(&self) -> &'static [Actor] {
        ACTORS
    }

    /// Some deposits before the load, and some after it.
    fn script(&self, load: LoadPhase) -> Vec<LoadPhase> {
        let of_each = |name: &str, count: u32| {
            let customers = load.streams.iter().filter(|stream| stream.actor == CUSTOMERS);
            let streams = customers
                .map(|stream| UserStream { transactions: Some(count * stream.pacing.clients()), ..*stream })
                .collect();
            let until = PhaseLimit::StreamsEnd { limit_ms: PHASE_LIMIT_MS };
            LoadPhase { name: name.to_owned(), warmup_ms: 0, until, streams }
        };
        vec![of_each("fill", FILLED_BY_EACH), load.clone(), of_each("settle", SETTLED_BY_EACH)]
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        transactions::statements()
    }

    fn client(&self, User { phase, actor, index, .. }: User) -> Client {
        if actor == CUSTOMERS {
            Client::Customer { account: i64::from(index) + 1, phase: phase.into(), number: 0, balance: None }
        } else {
            Client::Clerk { announced: 0, confirmed: 0 }
        }
    }

    fn next(&self, client: &mut Client) -> Option<Input> {
        let Client::Customer { account, phase, number, balance } = client else { return None };
        *number += 1;
        Some(Input::Deposit { account: *account, phase: *phase, number: *number, known_balance: *balance })
    }

    fn kind(&self, input: &Input) -> u16 {
        match input {
            Input::Deposit { .. } => DEPOSIT,
            // What is no transaction is never counted.
            Input::Confirm { .. } | Input::Announce => CONFIRM,
            Input::Close { .. } => CLOSE,
        }
    }

    fn performer(&self, input: &Input) -> u16 {
        u16::from(!matches!(input, Input::Deposit { .. }))
    }

    /// Customers pause so that clerks keep up, even where one thread of SQLite keeps another from writing for seconds.
    fn pause(&self, _: &mut Client, _: &Input, _: bool) -> Pause {
        Pause { keying: Duration::ZERO, thinking: THOUGHT }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Input,
        effects: &mut Effects<'_, Input>,
    ) -> Result<Ending, SessionError> {
        transactions::run(session, input, effects).await
    }

    fn learn(&self, client: &mut Client, input: &Input, effects: &mut Effects<'_, Input>) {
        match (client, input) {
            (Client::Customer { balance, .. }, Input::Deposit { account, phase, number, .. }) => {
                *balance = effects.receipt().last().copied();
                let clerk = u32::try_from(*account).unwrap_or(0) % CLERKS;
                effects.cause(FollowUp { input: Input::Announce, after: Duration::ZERO, user: Some(clerk) });
                let confirm = Input::Confirm { account: *account, phase: *phase, number: *number };
                effects.cause(FollowUp { input: confirm, after: CONFIRMED_AFTER, user: Some(clerk) });
            }
            (Client::Clerk { announced, confirmed }, Input::Confirm { .. }) => {
                *confirmed += 1;
                assert!(*confirmed <= *announced, "a clerk confirms what it was told of");
                if *confirmed % BATCH == 0 {
                    let close = Input::Close { confirmed: BATCH };
                    effects.cause(FollowUp { input: close, after: Duration::ZERO, user: None });
                }
            }
            _ => {}
        }
    }

    fn is_note(&self, input: &Input) -> bool {
        matches!(input, Input::Announce)
    }

    fn note(&self, client: &mut Client, _: Input) {
        if let Client::Clerk { announced, .. } = client {
            *announced += 1;
        }
    }
}

impl Dataset for MadeUp {
    fn entry(&self) -> &'static WorkloadEntry {
        &ENTRY
    }

    fn tables(&self) -> &[DataTable] {
        data::TABLES
    }

    fn expected_rows(&self, table: &DataTable) -> u64 {
        data::expected_rows(&table.name)
    }

    fn rows(&self, table: &str, _: TablePart) -> Box<dyn RowSource + '_> {
        data::rows(table)
    }

    fn sums(&self) -> &[Statement] {
        &self.sums
    }

    fn judge_data(&self, _: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
        Ok(Vec::new())
    }

    fn judge_ledger(&self, _: &Ledger<'_>) -> Vec<Judgement> {
        Vec::new()
    }

    fn judge_window(&self, _: &Execution<'_>) -> Vec<Judgement> {
        Vec::new()
    }
}
