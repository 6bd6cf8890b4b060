//! Asking a question, and the two refresh functions.

use super::inputs::{RefreshFunction, RefreshInput};
use super::refresh::{self, RefreshedOrder};
use super::{DecisionSupportH, KINDS, inputs, questions};
use crate::decision_support::asking;
use crate::decision_support::streams::{StreamClient, StreamRole, StreamWork, phase};
use crate::effects::Effects;
use crate::requests::Requests;
use crate::sql::{self, SqlError};
use crate::workload::{Actor, Ending, TransactionKind, User, Workload};
use engines::session::{Access, Param, Session, SessionError};
use engines::statement::{Dialect, Statement};
use record::script::LoadPhase;

sql::statement_names! {
    /// A statement of a refresh function. Questions are texts of their own.
    enum RefreshStatement {
        TakeInserted => "take-inserted",
        TakeDeleted => "take-deleted",
        Sets => "sets",
        InsertOrder => "insert-order",
        InsertLine => "insert-line",
        DeleteLines => "delete-lines",
        DeleteOrder => "delete-order",
    }
}

pub fn statements() -> Result<Vec<Statement>, SqlError> {
    sql::statements(RefreshStatement::NAMES, include_str!("sql/refresh.sql"), "")
}

/// Enough for a million small transactions.
const REFRESH_LIMIT_MS: u64 = 1_800_000;

impl Workload for DecisionSupportH {
    type Input = RefreshInput;
    type Client = StreamClient;

    const COUNTERS: &'static [&'static str] = questions::COUNTERS;
    const FILLS: bool = true;

    fn kinds(&self) -> &'static [TransactionKind] {
        &KINDS
    }

    fn actors(&self) -> &'static [Actor] {
        const { &[Actor::ending("power"), Actor::ending("queries"), Actor::ending("refresh")] }
    }

    /// One stream, then several with a stream of refresh functions beside them. How many users a load asks for, and for how long,
    /// does not matter: the settings say how many streams there are, and each does its work once.
    fn script(&self, _: LoadPhase) -> Vec<LoadPhase> {
        let queries_ms = self.settings.query_limit * self.questions.count() as u64;
        let limit_ms = |pairs: u32| queries_ms + 2 * u64::from(pairs) * REFRESH_LIMIT_MS;
        let several = self.settings.streams();
        vec![
            phase("power", limit_ms(1), &[(StreamRole::Power, 1)]),
            phase("throughput", limit_ms(several), &[(StreamRole::Query, several), (StreamRole::Upkeep, 1)]),
        ]
    }

    /// Sessions need their statements before anything is timed, so whatever else takes a moment is made then, too.
    fn statements(&self, _: Dialect) -> Vec<Statement> {
        refresh::prepare();
        self.statements.clone()
    }

    fn client(&self, user: User) -> StreamClient {
        StreamClient::new(user, 0)
    }

    fn next(&self, client: &mut StreamClient) -> Option<RefreshInput> {
        inputs::next(client, &self.questions, self.settings.streams())
    }

    fn kind(&self, input: &RefreshInput) -> u16 {
        match &input.work {
            StreamWork::Question(question) => u16::from(question.number) - 1,
            StreamWork::Function(function) => questions::COUNT + *function as u16,
        }
    }

    fn performer(&self, input: &RefreshInput) -> u16 {
        input.role as u16
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &RefreshInput,
        effects: &mut Effects<'_, RefreshInput>,
    ) -> Result<Ending, SessionError> {
        match &input.work {
            StreamWork::Question(question) => {
                let (limit_ms, is_alone) = (self.settings.query_limit, input.role == StreamRole::Power);
                let tally = &mut effects.tally;
                asking::count_answer(session, &self.questions, question, limit_ms, is_alone, tally).await?;
            }
            StreamWork::Function(RefreshFunction::NewSales) => insert(self, session, effects).await?,
            StreamWork::Function(RefreshFunction::OldSales) => delete(self, session, effects).await?,
        }
        Ok(Ending::Committed)
    }
}

/// Inserts the next set of new orders, each with its lines in a transaction of its own.
async fn insert<S: Session>(
    workload: &DecisionSupportH,
    session: &mut S,
    effects: &mut Effects<'_, RefreshInput>,
) -> Result<(), SessionError> {
    let set = take(session, effects, RefreshStatement::TakeInserted).await?;
    // The first part that was kept took the set.
    let done = effects.kept() - 1;
    for order in refresh::new_orders(workload.settings.scale, set).skip(done) {
        let mut requests = Requests::new(&mut effects.batch, RefreshStatement::NAMES);
        requests.begin(Access::ReadWrite);
        let RefreshedOrder { order, lines } = &order;
        requests.add(RefreshStatement::InsertOrder, &order.params());
        for line in lines {
            requests.add(RefreshStatement::InsertLine, &line.params());
        }
        let count = requests.next_number();
        requests.finish(session, |requests| (0..count).try_for_each(|number| requests.require_change(number))).await?;
        effects.keep();
    }
    Ok(())
}

/// Deletes as many of the oldest orders, each with its lines in a transaction of its own.
async fn delete<S: Session>(
    workload: &DecisionSupportH,
    session: &mut S,
    effects: &mut Effects<'_, RefreshInput>,
) -> Result<(), SessionError> {
    let set = take(session, effects, RefreshStatement::TakeDeleted).await?;
    let done = effects.kept() - 1;
    for key in refresh::old_keys(workload.settings.scale, set).skip(done) {
        let mut requests = Requests::new(&mut effects.batch, RefreshStatement::NAMES);
        requests.begin(Access::ReadWrite);
        let key = [Param::Integer(key)];
        let lines = requests.add(RefreshStatement::DeleteLines, &key);
        let order = requests.add(RefreshStatement::DeleteOrder, &key);
        let judge = |requests: &Requests<'_>| match requests.answer(lines).changed() {
            0 => Err(requests.unexpected(lines, "an order has no lines".to_owned())),
            _ => requests.require_change(order),
        };
        requests.finish(session, judge).await?;
        effects.keep();
    }
    Ok(())
}

/// The number of the set, which this takes unless an earlier attempt has.
async fn take<S: Session>(
    session: &mut S,
    effects: &mut Effects<'_, RefreshInput>,
    take: RefreshStatement,
) -> Result<u64, SessionError> {
    if effects.kept() == 0 {
        let column = usize::from(matches!(take, RefreshStatement::TakeDeleted));
        let mut requests = Requests::new(&mut effects.batch, RefreshStatement::NAMES);
        requests.begin(Access::ReadWrite);
        let taken = requests.add(take, &[]);
        let sets = requests.add(RefreshStatement::Sets, &[]);
        let judge = |requests: &Requests<'_>| {
            requests.require_change(taken)?;
            let set = requests.row(sets)?.integer(0, column)?;
            if set > refresh::SETS_MAX {
                let why = format!("all {} refresh sets are used up; load the data again", refresh::SETS_MAX);
                return Err(requests.unexpected(sets, why));
            }
            Ok(set)
        };
        let set = requests.finish(session, judge).await?;
        effects.tell(&[set]);
        effects.keep();
    }
    Ok(effects.receipt().first().copied().unwrap_or(0).unsigned_abs())
}
