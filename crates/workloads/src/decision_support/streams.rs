//! Streams that ask questions, and functions between or beside them: who works in which phase, and whether all of it was done.

use super::asking::StreamQuestion;
use super::questions::Questions;
use crate::execution::Execution;
use crate::judgement::{Judgement, judgement};
use crate::random::RandomStream;
use crate::workload::{TransactionKind, User};
use record::check::Verdict;
use record::script::{self, LoadPhase, PhaseLimit};
use record::trial::Pacing;

/// A user at work, in the order of the actors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum StreamRole {
    /// Asks all questions while nobody else does.
    Power,
    /// One of several streams of questions.
    Query,
    /// Changes the data.
    Upkeep,
}

/// The next piece of work of a user, and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamInput<Function> {
    pub role: StreamRole,
    pub work: StreamWork<Function>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamWork<Function> {
    Question(StreamQuestion),
    Function(Function),
}

/// A piece of the work of a role.
pub enum StreamPiece<Function> {
    /// The question at this place of the stream's order.
    Question(usize),
    Function(Function),
}

/// A user of any role.
#[derive(Debug, Clone)]
pub struct StreamClient {
    role: StreamRole,
    /// Its number among all query streams of a trial; 0 if it is none of them.
    stream: u32,
    done: u32,
    parameters: RandomStream,
    is_filler: bool,
}

impl StreamClient {
    /// Earlier phases have had so many query streams.
    pub fn new(user: User, streams_before: u32) -> Self {
        let role = [StreamRole::Power, StreamRole::Query, StreamRole::Upkeep];
        let role = *role.get(usize::from(user.actor)).unwrap_or(&StreamRole::Power);
        let stream = if role == StreamRole::Query { streams_before + user.index + 1 } else { 0 };
        let parameters = RandomStream::new(user.seed, "parameters of questions", [stream, 0]);
        Self { role, stream, done: 0, parameters, is_filler: user.is_filler }
    }

    /// The next piece; `None` after the last. `piece` gives the piece at a place of the work. Who only keeps the database busy
    /// asks without an end and changes nothing, since that would change what is compared.
    pub fn next<Function>(
        &mut self,
        questions: &Questions,
        piece: impl FnOnce(StreamRole, usize) -> Option<StreamPiece<Function>>,
    ) -> Option<StreamInput<Function>> {
        let (role, place, is_filler) = (self.role, self.done as usize, self.is_filler);
        self.done += 1;
        let piece = match role {
            StreamRole::Upkeep if is_filler => None,
            _ if is_filler => Some(StreamPiece::Question(place % questions.count())),
            _ => piece(role, place),
        };
        let work = match piece? {
            StreamPiece::Function(function) => StreamWork::Function(function),
            StreamPiece::Question(place) => {
                let number = questions.at(self.stream, place)?;
                let values = questions.draw(number, &mut self.parameters);
                StreamWork::Question(StreamQuestion { number, values, is_filler })
            }
        };
        Some(StreamInput { role, work })
    }
}

/// The questions, which count, then the functions.
pub const fn kinds<const ALL: usize>(questions: &[&'static str], functions: &[&'static str]) -> [TransactionKind; ALL] {
    let mut kinds = [TransactionKind::transaction("", false); ALL];
    let mut place = 0;
    while place < ALL {
        kinds[place] = match place.checked_sub(questions.len()) {
            None => TransactionKind::transaction(questions[place], true),
            Some(function) => TransactionKind::transaction(functions[function], false),
        };
        place += 1;
    }
    kinds
}

/// A phase in which each user does its work once. Queries have limits of their own, so it reaches its limit only if something
/// hangs.
pub fn phase(name: &str, limit_ms: u64, streams: &[(StreamRole, u32)]) -> LoadPhase {
    let streams =
        streams.iter().map(|&(role, clients)| script::UserStream::of(role as u16, Pacing::Clients { clients }));
    LoadPhase {
        name: name.to_owned(),
        warmup_ms: 0,
        until: PhaseLimit::StreamsEnd { limit_ms },
        streams: streams.collect(),
    }
}

/// Whether each question has as many answers as there are streams, and whether each function, which changes the data, was done as
/// often as `functions` says, with the name and the rule of that. A question without an answer is no fault of the data, and the
/// figure of its phase is not computed.
pub fn judge_window(
    execution: &Execution<'_>,
    kinds: &[TransactionKind],
    streams: u64,
    functions: (&str, &str, u64),
) -> Vec<Judgement> {
    let (name, rule, runs) = functions;
    let answered = match otherwise(execution, kinds, true, streams) {
        None => Verdict::Holds { seen: None },
        Some(why) => Verdict::Undecided { why },
    };
    let done = match otherwise(execution, kinds, false, runs) {
        None => Verdict::Holds { seen: None },
        Some(seen) => Verdict::Violated { seen },
    };
    let answers = "Every stream has an answer to each question within its limit of time.";
    vec![judgement("answered", answers, answered), judgement(name, rule, done)]
}

/// "q14 4 times, q23 0 times instead of 5".
fn otherwise(execution: &Execution<'_>, kinds: &[TransactionKind], counted: bool, expected: u64) -> Option<String> {
    let committed = |name: &str| execution.totals(name).map_or(0, |totals| totals.committed);
    let names = kinds.iter().filter(|kind| kind.counted == counted).map(|kind| kind.name);
    let wrong =
        names.filter(|name| committed(name) != expected).map(|name| format!("{name} {} times", committed(name)));
    let wrong: Vec<_> = wrong.collect();
    (!wrong.is_empty()).then(|| format!("{} instead of {expected}", wrong.join(", ")))
}
