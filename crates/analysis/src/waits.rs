//! What the sessions of a server waited for: how many on average, by event, for all contenders side by side.

use crate::gathered::{by_first, distinct};
use crate::groups::{self, Group};
use crate::missing::Missing;
use crate::validity;
use record::looks::Reading;
use record::plan::Cell;
use record::run::Run;
use record::waits::{SeenWaiting, Waits};
use serde::{Deserialize, Serialize};

/// How many events are listed by name; the rest is added up.
const TOLD: usize = 10;

const NANOS_PER_MILLISECOND: f64 = 1e6;

/// Contenders under the same scenario and swept values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitsOfContenders {
    pub coordinates: String,
    pub contenders: Vec<Sampled>,
    /// Those with the most sessions first.
    pub events: Vec<AverageSessions>,
    /// All further events together.
    pub rest: Vec<Option<f64>>,
}

/// What was sampled of one contender, over its valid trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampled {
    pub contender: String,
    pub samples: u64,
    pub missed: u64,
    /// How long the server took for one sample.
    pub milliseconds_each: Option<f64>,
    /// Where the server takes it from, and what that leaves out, each once.
    pub sources: Vec<String>,
    /// Why trials were not sampled, or not to the end of their windows; each reason once.
    pub missing: Vec<Missing>,
}

/// How many sessions waited for an event at a time, for each contender in their order; `None` without samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AverageSessions {
    pub class: String,
    /// Empty where the class is all that is known.
    pub event: String,
    pub sessions: Vec<Option<f64>>,
}

/// Every group in which any trial has samples, or a reason for having none.
pub fn all(run: &Run) -> Vec<WaitsOfContenders> {
    groups::of_plan(&run.plan).iter().filter_map(|group| of_group(run, group)).collect()
}

fn of_group(run: &Run, group: &Group<'_>) -> Option<WaitsOfContenders> {
    let sampled: Vec<(Sampled, Vec<SeenWait>)> = group.cells.iter().map(|cell| of_cell(run, cell)).collect();
    let is_asked = |(contender, _): &(Sampled, _)| contender.samples > 0 || !contender.missing.is_empty();
    if !sampled.iter().any(is_asked) {
        return None;
    }
    let seen = sampled.iter().enumerate();
    let seen = seen.flat_map(|(place, (_, seen))| seen.iter().map(move |(event, many)| (event, (place, *many))));
    let event = |((class, event), own): (&(String, String), Vec<(usize, f64)>)| {
        let none = sampled.iter().map(|(contender, _)| (contender.samples > 0).then_some(0.0));
        let mut sessions: Vec<Option<f64>> = none.collect();
        for (place, many) in own {
            sessions[place] = Some(many);
        }
        AverageSessions { class: class.clone(), event: event.clone(), sessions }
    };
    let mut events: Vec<AverageSessions> = by_first(seen).into_iter().map(event).collect();
    let most = |one: &AverageSessions| one.sessions.iter().flatten().fold(0.0, |most: f64, own| most.max(*own));
    events.sort_by(|one, other| most(other).total_cmp(&most(one)));
    let further = events.split_off(events.len().min(TOLD));
    let rest = |place: usize| further.iter().map(|one| one.sessions[place]).sum();
    Some(WaitsOfContenders {
        coordinates: group.coordinates.clone(),
        rest: if further.is_empty() { Vec::new() } else { (0..sampled.len()).map(rest).collect() },
        contenders: sampled.into_iter().map(|(contender, _)| contender).collect(),
        events,
    })
}

/// Class and event of a wait, with how many sessions waited for it at a time.
type SeenWait = ((String, String), f64);

fn of_cell(run: &Run, cell: &Cell) -> (Sampled, Vec<SeenWait>) {
    let looks = validity::valid_trials(run, cell.id).filter_map(|trial| trial.looks.as_ref()?.waits());
    let looks: Vec<&Reading<Waits>> = looks.collect();
    let known = || looks.iter().filter_map(|waits| waits.known());
    let mut all = Waits::default();
    known().for_each(|waits| all.absorb(waits));
    let why = |waits: &&Reading<Waits>| match waits {
        Reading::Known(waits) => waits.stopped.clone().map(|why| Missing::SamplingEnded { why }),
        Reading::Unavailable(why) => Some(Missing::Unavailable { why: why.clone() }),
    };
    let each = |count: u64| (all.samples > 0).then(|| count as f64 / all.samples as f64);
    let average = |one: &SeenWaiting| Some(((one.class.clone(), one.event.clone()), each(one.sessions)?));
    let sampled = Sampled {
        contender: cell.contender.clone(),
        samples: all.samples,
        missed: all.missed,
        milliseconds_each: each(all.took_ns).map(|nanos| nanos / NANOS_PER_MILLISECOND),
        sources: distinct(known().map(|waits| waits.source.clone())),
        missing: distinct(looks.iter().filter_map(why)),
    };
    (sampled, all.seen.iter().filter_map(average).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn sessions_are_averaged_over_samples_and_stand_side_by_side() {
        let mut run = synthetic::waits::sampled(synthetic::run(3));
        let found = all(&run);
        let names: Vec<_> = found[0].events.iter().map(|one| (one.class.as_str(), one.event.as_str())).collect();
        assert_eq!(names, [("IO", "WALSync"), ("Lock", "transactionid"), ("CPU", "")]);
        let sessions: Vec<_> = found[0].events.iter().map(|one| one.sessions.clone()).collect();
        assert_eq!(sessions[..2], [[Some(12.0), Some(6.0)], [Some(0.0), Some(3.5)]]);
        assert_eq!((found[0].contenders[0].samples, found[0].contenders[1].missed), (300, 3));
        assert!(found[0].rest.is_empty());
        // A trial that is not valid does not count.
        let unsound = run.trials.iter_mut().find(|trial| trial.record.cell == 0).unwrap();
        unsound.disagreements.push("it lacks its log".to_owned());
        assert_eq!(all(&run)[0].contenders[0].samples, 200);
    }

    #[test]
    fn further_events_are_added_up() {
        let mut run = synthetic::waits::sampled(synthetic::run(1));
        for trial in &mut run.trials {
            let Some(Reading::Known(waits)) = &mut trial.looks.as_mut().unwrap().end.waits else { panic!("sampled") };
            (0..20).for_each(|number| waits.add("IO", &format!("file {number}"), 10));
        }
        let found = all(&run).remove(0);
        assert_eq!(found.events.len(), TOLD);
        // The two contenders have three events of their own in total.
        let rest = found.rest[0].unwrap();
        assert!((rest - 1.3).abs() < 1e-9, "{rest}");
    }

    #[test]
    fn runs_without_samples_have_nothing_and_those_that_could_not_a_reason() {
        let mut run = synthetic::run(2);
        assert_eq!(all(&run), []);
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 0) {
            trial.looks.as_mut().unwrap().end.waits = Some(Reading::Unavailable("it has no server".to_owned()));
        }
        let found = all(&run).remove(0);
        let why = "it has no server".to_owned();
        assert_eq!(found.contenders[0].missing, [Missing::Unavailable { why }]);
        assert!(found.events.is_empty() && found.contenders[1].missing.is_empty());
    }
}
