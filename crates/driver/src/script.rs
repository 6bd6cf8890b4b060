//! Checks whether a script can be driven at all, before anything is started.

use crate::plan::{DrivePlan, LoadPhase, Pacing, PhaseLimit, UserStream};
use workloads::workload::Actor;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    #[error("nothing would be driven: the plan has no phases")]
    NoPhases,
    #[error("nothing would be driven: phase {phase} has no streams")]
    NoStreams { phase: String },
    #[error("nothing would be driven: {what} in the plan must be above zero")]
    Nothing { what: &'static str },
    #[error("phase {phase} names actor {actor}, but the workload has {known}")]
    NoSuchActor { phase: String, actor: u16, known: String },
    #[error("phase {phase} paces {actor} twice; give it one stream")]
    Twice { phase: String, actor: &'static str },
    #[error("phase {phase} paces {actor}, whose work is caused by others; leave its stream out")]
    Reacts { phase: String, actor: &'static str },
    #[error("the workload causes work for {actor}, which does not react: the work would never be done")]
    DoesNotReact { actor: &'static str },
    #[error(
        "phase {phase} would never end: no stream of it has an end; give one a number of transactions, or the phase a time"
    )]
    Endless { phase: String },
    #[error("phase {phase} ends with its streams and has a warm-up; make the warm-up a phase of its own")]
    WarmUp { phase: String },
    #[error(
        "phase {phase} counts the transactions of its users, but work that arrives at a rate has no users; give it clients"
    )]
    ArrivalsCounted { phase: String },
    #[error("load generator {number} of {of} does not exist; they are numbered from 0")]
    NoSuchGenerator { number: u32, of: u32 },
}

/// Checks whether a workload with these actors can be driven as planned.
pub fn check(plan: &DrivePlan, actors: &[Actor]) -> Result<(), ScriptError> {
    if plan.phases.is_empty() {
        return Err(ScriptError::NoPhases);
    }
    let generator = plan.generator;
    if generator.number >= generator.of {
        return Err(ScriptError::NoSuchGenerator { number: generator.number, of: generator.of });
    }
    plan.phases.iter().try_for_each(|phase| check_phase(phase, actors))
}

fn check_phase(phase: &LoadPhase, actors: &[Actor]) -> Result<(), ScriptError> {
    let name = || phase.name.clone();
    if phase.streams.is_empty() {
        return Err(ScriptError::NoStreams { phase: name() });
    }
    let mut paced = Vec::new();
    for stream in &phase.streams {
        something_to_do(stream)?;
        let Some(actor) = actors.get(usize::from(stream.actor)) else {
            let known = actors.iter().map(|actor| actor.name).collect::<Vec<_>>().join(", ");
            return Err(ScriptError::NoSuchActor { phase: name(), actor: stream.actor, known });
        };
        if actor.reacts {
            return Err(ScriptError::Reacts { phase: name(), actor: actor.name });
        }
        if paced.contains(&stream.actor) {
            return Err(ScriptError::Twice { phase: name(), actor: actor.name });
        }
        paced.push(stream.actor);
        if stream.transactions.is_some() && matches!(stream.pacing, Pacing::Arrivals { .. }) {
            return Err(ScriptError::ArrivalsCounted { phase: name() });
        }
    }
    if let PhaseLimit::StreamsEnd { .. } = phase.until {
        if phase.warmup_ms > 0 {
            return Err(ScriptError::WarmUp { phase: name() });
        }
        if !phase.streams.iter().any(|stream| has_end(stream, actors)) {
            return Err(ScriptError::Endless { phase: name() });
        }
    }
    Ok(())
}

/// Whether the stream ends by itself. Arrivals at a rate go on for as long as the other streams do.
pub fn has_end(stream: &UserStream, actors: &[Actor]) -> bool {
    let ends = actors.get(usize::from(stream.actor)).is_some_and(|actor| actor.ends);
    stream.transactions.is_some() || (ends && !matches!(stream.pacing, Pacing::Arrivals { .. }))
}

fn something_to_do(stream: &UserStream) -> Result<(), ScriptError> {
    let (what, is_zero) = match stream.pacing {
        _ if stream.transactions == Some(0) => ("the number of transactions", true),
        Pacing::Clients { clients } => ("the number of clients", clients == 0),
        Pacing::Terminals { terminals: 0, .. } => ("the number of terminals", true),
        Pacing::Arrivals { per_second, .. } if !(per_second.is_finite() && per_second > 0.0) => ("the rate", true),
        Pacing::Terminals { sessions, .. } | Pacing::Arrivals { sessions, .. } => {
            ("the number of sessions", sessions == 0)
        }
    };
    if is_zero { Err(ScriptError::Nothing { what }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{ArrivalProcess, Generator};

    const ACTORS: &[Actor] = &[Actor::paced("clients"), Actor::ending("streams"), Actor::reacting("market", 2)];

    fn clients(actor: u16) -> UserStream {
        UserStream::of(actor, Pacing::Clients { clients: 3 })
    }

    fn refused(until: PhaseLimit, streams: Vec<UserStream>) -> String {
        let phase = LoadPhase { name: "power".to_owned(), warmup_ms: 0, until, streams };
        check(&DrivePlan::of(vec![phase], 1), ACTORS).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn what_cannot_be_driven_is_told_with_its_phase() {
        let (time, end) = (PhaseLimit::Time { measure_ms: 1_000 }, PhaseLimit::StreamsEnd { limit_ms: 1_000 });
        assert_eq!(refused(time, vec![clients(0)]), "");
        assert_eq!(refused(end, vec![clients(0), clients(1)]), "", "the clients go on for as long as the streams do");
        assert_eq!(refused(end, vec![UserStream { transactions: Some(5), ..clients(0) }]), "");
        assert!(refused(end, vec![clients(0)]).contains("power would never end"));
        assert!(refused(time, vec![clients(7)]).contains("the workload has clients, streams, market"));
        assert!(refused(time, vec![clients(2)]).contains("paces market, whose work is caused by others"));
        assert!(refused(time, vec![clients(0), clients(0)]).contains("paces clients twice"));
        assert!(refused(time, Vec::new()).contains("power has no streams"));
        let nobody = UserStream::of(0, Pacing::Clients { clients: 0 });
        assert_eq!(
            refused(time, vec![nobody]),
            "nothing would be driven: the number of clients in the plan must be above zero"
        );
        let arriving = Pacing::Arrivals { per_second: 1.0, process: ArrivalProcess::Uniform, sessions: 1 };
        assert!(
            refused(end, vec![UserStream { transactions: Some(1), ..UserStream::of(0, arriving) }])
                .contains("no users")
        );
        let mut warm = LoadPhase::timed(Pacing::Clients { clients: 1 }, 500, 1_000);
        warm.until = end;
        let plan = DrivePlan::of(vec![warm], 1);
        assert!(check(&plan, ACTORS).is_err_and(|error| error.to_string().contains("phase of its own")));
        let plan = DrivePlan::timed(Pacing::Clients { clients: 1 }, 0, 1_000, 1);
        let plan = DrivePlan { generator: Generator { number: 2, of: 2 }, ..plan };
        assert!(check(&plan, ACTORS).is_err_and(|error| error.to_string().contains("generator 2 of 2")));
        assert_eq!(check(&DrivePlan::of(Vec::new(), 1), ACTORS), Err(ScriptError::NoPhases));
    }
}
