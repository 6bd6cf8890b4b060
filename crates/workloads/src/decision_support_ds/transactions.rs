//! Asking questions one after another, and the maintenance functions.

use super::maintenance::{self, MaintenanceFunction, MaintenanceInput};
use super::{DecisionSupportDs, KINDS, questions};
use crate::decision_support::asking;
use crate::decision_support::streams::{StreamClient, StreamPiece, StreamRole, StreamWork, phase};
use crate::effects::Effects;
use crate::workload::{Actor, Ending, TransactionKind, User, Workload};
use engines::session::{Session, SessionError};
use engines::statement::{Dialect, Statement};
use record::script::LoadPhase;

/// The phases from the second one of several streams on.
const SECOND_THROUGHPUT: u16 = 3;
/// Enough for a set of twenty million new lines.
const FUNCTION_LIMIT_MS: u64 = 1_800_000;

impl Workload for DecisionSupportDs {
    type Input = MaintenanceInput;
    type Client = StreamClient;

    const COUNTERS: &'static [&'static str] = questions::COUNTERS;
    const FILLS: bool = true;

    fn kinds(&self) -> &'static [TransactionKind] {
        &KINDS
    }

    fn actors(&self) -> &'static [Actor] {
        const { &[Actor::ending("power"), Actor::ending("queries"), Actor::ending("maintenance")] }
    }

    /// One stream, then twice several, each time with maintenance after them. How many users a load asks for, and for how long,
    /// does not matter: the settings say how many streams there are, and each does its work once.
    fn script(&self, _: LoadPhase) -> Vec<LoadPhase> {
        let queries_ms = self.settings.query_limit * questions::STATEMENTS.len() as u64;
        let functions = u64::from(self.settings.refresh_runs()) * MaintenanceFunction::NAMES.len() as u64;
        let queries = |name: &str, role: StreamRole, clients: u32| phase(name, queries_ms, &[(role, clients)]);
        let upkeep = |name: &str| phase(name, functions * FUNCTION_LIMIT_MS, &[(StreamRole::Upkeep, 1)]);
        let streams = self.settings.streams;
        vec![
            queries("power", StreamRole::Power, 1),
            queries("throughput-1", StreamRole::Query, streams),
            upkeep("maintenance-1"),
            queries("throughput-2", StreamRole::Query, streams),
            upkeep("maintenance-2"),
        ]
    }

    /// Sessions need their statements before anything is timed, so whatever else takes a moment is made then, too.
    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        self.things();
        self.statements.of(dialect).clone()
    }

    fn client(&self, user: User) -> StreamClient {
        StreamClient::new(user, if user.phase >= SECOND_THROUGHPUT { self.settings.streams } else { 0 })
    }

    fn next(&self, client: &mut StreamClient) -> Option<MaintenanceInput> {
        client.next(&self.questions, |role, place| match role {
            StreamRole::Power | StreamRole::Query => Some(StreamPiece::Question(place)),
            StreamRole::Upkeep => {
                let is_left = place < MaintenanceFunction::ALL.len() * self.settings.refresh_runs() as usize;
                is_left.then(|| StreamPiece::Function(MaintenanceFunction::ALL[place % MaintenanceFunction::ALL.len()]))
            }
        })
    }

    fn kind(&self, input: &MaintenanceInput) -> u16 {
        match &input.work {
            StreamWork::Question(question) => u16::from(question.number) - 1,
            StreamWork::Function(function) => questions::COUNT + *function as u16,
        }
    }

    fn performer(&self, input: &MaintenanceInput) -> u16 {
        input.role as u16
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &MaintenanceInput,
        effects: &mut Effects<'_, MaintenanceInput>,
    ) -> Result<Ending, SessionError> {
        match &input.work {
            // Nothing changes the data while questions are asked.
            StreamWork::Question(question) => {
                let (limit_ms, tally) = (self.settings.query_limit, &mut effects.tally);
                asking::count_answer(session, &self.questions, question, limit_ms, true, tally).await?;
            }
            StreamWork::Function(function) => maintenance::run(self, session, *function, effects).await?,
        }
        Ok(Ending::Committed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::maintenance::MaintenanceFunction;
    use super::super::questions::QUESTIONS;
    use super::super::{DataScale, DecisionSupportDsSettings};
    use super::*;
    use crate::decision_support::asking::StreamQuestion;
    use crate::decision_support::questions::Questions;
    use crate::workload::User;
    use record::script::PhaseLimit;
    use record::trial::Pacing;
    use serde_json::json;

    const FIRST: User = User { seed: 7, phase: 0, actor: 0, index: 0, is_filler: false };

    fn all(user: User) -> Vec<MaintenanceInput> {
        let workload = DecisionSupportDs::new(DecisionSupportDsSettings::plain(DataScale::of(0.01).unwrap())).unwrap();
        let mut client = workload.client(user);
        std::iter::from_fn(|| workload.next(&mut client)).take(120).collect()
    }

    fn numbers(inputs: &[MaintenanceInput]) -> Vec<u8> {
        let number = |input: &MaintenanceInput| match &input.work {
            StreamWork::Question(question) => Some(question.number),
            StreamWork::Function(_) => None,
        };
        inputs.iter().filter_map(number).collect()
    }

    #[test]
    fn each_has_its_work_and_an_end() {
        let query = User { phase: 1, actor: StreamRole::Query as u16, index: 3, ..FIRST };
        let again = User { phase: SECOND_THROUGHPUT, ..query };
        let questions = Questions::read(&QUESTIONS, DataScale::of(0.01).unwrap()).unwrap();
        for (user, stream) in [(FIRST, 0), (query, 4), (again, 8)] {
            assert_eq!(numbers(&all(user)), questions.order(stream));
        }
        let maintenance = all(User { phase: 2, actor: StreamRole::Upkeep as u16, ..FIRST });
        let begins = |input: &&MaintenanceInput| input.work == StreamWork::Function(MaintenanceFunction::DeleteStore);
        assert_eq!((maintenance.len(), maintenance.iter().filter(begins).count()), (22, 2));
    }

    #[test]
    fn who_fills_asks_without_an_end_and_maintains_nothing() {
        let filling = |role: StreamRole| all(User { actor: role as u16, is_filler: true, ..FIRST });
        for role in [StreamRole::Power, StreamRole::Query] {
            let is_filler = |input: &MaintenanceInput| {
                matches!(input.work, StreamWork::Question(StreamQuestion { is_filler: true, .. }))
            };
            assert!(filling(role).len() == 120 && filling(role).iter().all(is_filler));
        }
        assert_eq!(filling(StreamRole::Upkeep), []);
    }

    #[test]
    fn each_stream_has_parameters_of_its_own_that_its_seed_repeats() {
        let query = User { actor: StreamRole::Query as u16, ..FIRST };
        assert_eq!(all(query), all(query));
        let other = [User { index: 1, ..query }, User { seed: 8, ..query }, User { phase: SECOND_THROUGHPUT, ..query }];
        let values_of = |user: User, wanted: u8| {
            let found = all(user).into_iter().find_map(|input| match input.work {
                StreamWork::Question(StreamQuestion { number, values, .. }) if number == wanted => Some(values),
                _ => None,
            });
            found.unwrap()
        };
        for user in other {
            assert!((1..=99).any(|number| values_of(user, number) != values_of(query, number)), "{user:?}");
        }
    }

    #[test]
    fn phases_of_several_streams_are_each_followed_by_maintenance() {
        let table = json!({ "scale": 0.01, "streams": 6, "query_limit": "1m" });
        let workload = DecisionSupportDs::from_table(table.as_object().unwrap()).unwrap();
        let phases = workload.script(LoadPhase::timed(Pacing::Clients { clients: 9 }, 1_000, 2_000));
        let shown: Vec<_> = phases
            .iter()
            .map(|phase| (&*phase.name, phase.streams[0].actor, phase.streams[0].pacing.clients(), phase.until))
            .collect();
        let minutes = |minutes: u64| PhaseLimit::StreamsEnd { limit_ms: minutes * 60_000 };
        let (asks, maintains) = (minutes(103), minutes(3 * 11 * 30));
        let expected = [
            ("power", 0, 1, asks),
            ("throughput-1", 1, 6, asks),
            ("maintenance-1", 2, 1, maintains),
            ("throughput-2", 1, 6, asks),
            ("maintenance-2", 2, 1, maintains),
        ];
        assert_eq!(shown, expected);
    }
}
