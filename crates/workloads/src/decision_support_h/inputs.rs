//! What each stream does, one after another.

use crate::decision_support::questions::Questions;
use crate::decision_support::streams::{StreamClient, StreamInput, StreamPiece, StreamRole};

settings::names! {
    /// A refresh function.
    #[repr(u16)]
    pub enum RefreshFunction {
        NewSales => "new-sales",
        OldSales => "old-sales",
    }
}

pub type RefreshInput = StreamInput<RefreshFunction>;

/// The power phase has all questions between a pair of functions. The refresh stream has a pair for each query stream.
pub fn next(client: &mut StreamClient, questions: &Questions, streams: u32) -> Option<RefreshInput> {
    client.next(questions, |role, place| {
        Some(match role {
            StreamRole::Power if place == 0 => StreamPiece::Function(RefreshFunction::NewSales),
            StreamRole::Power if place == questions.count() + 1 => StreamPiece::Function(RefreshFunction::OldSales),
            StreamRole::Power => StreamPiece::Question(place - 1),
            StreamRole::Query => StreamPiece::Question(place),
            StreamRole::Upkeep if place >= 2 * streams as usize => return None,
            StreamRole::Upkeep if place.is_multiple_of(2) => StreamPiece::Function(RefreshFunction::NewSales),
            StreamRole::Upkeep => StreamPiece::Function(RefreshFunction::OldSales),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::questions::QUESTIONS;
    use super::*;
    use crate::decision_support::asking::StreamQuestion;
    use crate::decision_support::scale::DataScale;
    use crate::decision_support::streams::StreamWork;
    use crate::workload::User;
    use std::collections::BTreeSet;

    const NEW_SALES: &StreamWork<RefreshFunction> = &StreamWork::Function(RefreshFunction::NewSales);
    const OLD_SALES: &StreamWork<RefreshFunction> = &StreamWork::Function(RefreshFunction::OldSales);

    fn questions() -> Questions {
        Questions::read(&QUESTIONS, DataScale::of(0.01).unwrap()).unwrap()
    }

    fn all(seed: u64, role: StreamRole, index: u32) -> Vec<RefreshInput> {
        let (questions, user) = (questions(), User { seed, phase: 0, actor: role as u16, index, is_filler: false });
        let mut client = StreamClient::new(user, 0);
        std::iter::from_fn(|| next(&mut client, &questions, 3)).take(100).collect()
    }

    fn numbers(inputs: &[RefreshInput]) -> Vec<u8> {
        let number = |input: &RefreshInput| match &input.work {
            StreamWork::Question(question) => Some(question.number),
            StreamWork::Function(_) => None,
        };
        inputs.iter().filter_map(number).collect()
    }

    #[test]
    fn each_has_its_work_and_an_end() {
        let (power, questions) = (all(7, StreamRole::Power, 0), questions());
        assert_eq!((power.len(), &power[0].work, &power[23].work), (24, NEW_SALES, OLD_SALES));
        assert_eq!(numbers(&power), questions.order(0));
        assert_eq!(numbers(&all(7, StreamRole::Query, 1)), questions.order(2));
        assert_eq!(all(7, StreamRole::Query, 1).len(), 22);
        let refresh = all(7, StreamRole::Upkeep, 0);
        assert_eq!((refresh.len(), &refresh[4].work, &refresh[5].work), (6, NEW_SALES, OLD_SALES));
    }

    #[test]
    fn who_fills_asks_without_an_end_and_refreshes_nothing() {
        let questions = questions();
        let filling = |role: StreamRole| {
            let user = User { seed: 7, phase: 0, actor: role as u16, index: 0, is_filler: true };
            let mut client = StreamClient::new(user, 0);
            std::iter::from_fn(|| next(&mut client, &questions, 3)).take(100).collect::<Vec<_>>()
        };
        for role in [StreamRole::Power, StreamRole::Query] {
            let is_filling = |input: &RefreshInput| {
                matches!(input.work, StreamWork::Question(StreamQuestion { is_filler: true, .. }))
            };
            assert!(filling(role).len() == 100 && filling(role).iter().all(is_filling));
        }
        assert_eq!(filling(StreamRole::Upkeep), []);
    }

    #[test]
    fn each_stream_has_parameters_of_its_own_that_its_seed_repeats() {
        assert_eq!(all(7, StreamRole::Query, 0), all(7, StreamRole::Query, 0));
        let drawn = |seed, index| {
            let mut inputs = all(seed, StreamRole::Query, index);
            inputs.sort_by_key(|input| numbers(std::slice::from_ref(input)));
            format!("{inputs:?}")
        };
        let all_drawn: BTreeSet<_> = [(7, 0), (7, 1), (8, 0)].map(|(seed, index)| drawn(seed, index)).into();
        assert_eq!(all_drawn.len(), 3);
    }
}
