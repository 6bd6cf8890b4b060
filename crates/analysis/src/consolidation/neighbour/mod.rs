//! The throughput of machines beside one whose load comes or goes (`machine.exception`): before, while and after it works.
//!
//! Each trial is its own reference: the same machines on the same host, some seconds earlier or later. For a neighbour
//! that works in the middle, both the time before and after count as without it, so even drift of the host cancels out.
//! A neighbour that stands idle changes nothing within a trial. Its cells are compared with those in which it works.

pub mod beside;
pub mod parts;

use super::means;
use super::slots::position;
use crate::contrast::Position;
use crate::estimate::Estimate;
use crate::latency::{self, Counts};
use crate::missing::{Missing, NeighbourPart};
use crate::student::{self, mean_of};
use crate::validity;
use beside::BesideRatio;
use parts::{NeighbourWork, PartReading, TrialParts};
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::settings::ExceptionLoad;
use serde::{Deserialize, Serialize};

/// The effects of a neighbour in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// The number of the machine beside which the others are measured.
    pub machine: u32,
    /// What its clients do.
    pub load: ExceptionLoad,
    /// The number of the others.
    pub others: usize,
    /// When it worked, over the trials in which its work changed; `None` if it never did.
    pub work: Option<NeighbourWork>,
    /// One for each [`Of`] that says something; empty if its work never changed.
    pub effects: Vec<NeighbourEffect>,
    /// What the others keep while it works.
    pub kept: Position,
    /// What they have after its work, over what they had before.
    pub recovered: Position,
    /// For an idle neighbour: comparisons with cells in which it works, alone or as one of several.
    pub beside: Vec<BesideRatio>,
    /// The mean of the others in each second of their windows that all trials have, over the trials. These are point values.
    pub course: Vec<f64>,
    /// The trials that have parts, in their order.
    pub trials: Vec<TrialParts>,
    /// Why valid trials were left out.
    pub left_out: Vec<Missing>,
}

/// The figure that is compared between the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Their mean throughput.
    Mean,
    /// The throughput of the machine that does least in each part; only if there are several.
    Least,
    /// Response times of the counted kinds, all kinds together.
    Median,
    P99,
}

impl Of {
    const ALL: [Self; 4] = [Self::Mean, Self::Least, Self::Median, Self::P99];

    fn quantile(self) -> Option<f64> {
        match self {
            Self::Mean | Self::Least => None,
            Self::Median => Some(0.5),
            Self::P99 => Some(0.99),
        }
    }
}

/// Over blocks, each with its interval. Throughput is in the metric's unit, response times in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeighbourEffect {
    pub of: Of,
    pub before: Option<Estimate>,
    pub during: Option<Estimate>,
    pub after: Option<Estimate>,
    pub during_over_before: Option<Estimate>,
    pub during_over_after: Option<Estimate>,
    /// Over both parts together, where both exist: the mean of their throughputs, or the response times of both.
    pub during_over_both: Option<Estimate>,
    pub after_over_before: Option<Estimate>,
    /// Why there are no estimates.
    pub why_none: Option<Missing>,
}

impl NeighbourEffect {
    /// The value while it works, over the value of all the time when it does not.
    pub fn kept(&self) -> Option<&Estimate> {
        let one = self.during_over_before.as_ref().or(self.during_over_after.as_ref());
        self.during_over_both.as_ref().or(one)
    }
}

/// `None` for a cell whose machines are all measured.
pub fn of_cell(run: &Run, cell: &Cell) -> Option<Neighbour> {
    let machine = cell.bystander()?;
    let (mut trials, mut left_out) = (Vec::new(), Vec::new());
    let mut valid: Vec<&StoredTrial> = validity::valid_trials(run, cell.id).collect();
    // Sorted, so that the order in which trials are listed cannot matter.
    valid.sort_by_key(|trial| trial.record.id);
    for trial in valid {
        match parts::of_trial(trial, machine) {
            Ok(found) => trials.extend(found),
            Err(why) => left_out.push(why.of_trial(trial.record.id)),
        }
    }
    let work = work(&trials);
    let effects = work.map_or_else(Vec::new, |_| effects(&trials));
    let mean = of_mean(&effects);
    Some(Neighbour {
        machine,
        load: beside::load(cell),
        others: cell.machines() as usize - 1,
        work,
        kept: position(mean.and_then(NeighbourEffect::kept)),
        recovered: position(mean.and_then(|effect| effect.after_over_before.as_ref())),
        beside: beside::all(run, cell, machine),
        course: means(&trials.iter().map(|trial| trial.seconds.clone()).collect::<Vec<_>>()),
        effects,
        trials,
        left_out,
    })
}

/// The mean over the trials; `None` if its work changes in none of them.
fn work(trials: &[TrialParts]) -> Option<NeighbourWork> {
    let mean = |of: fn(&NeighbourWork) -> Option<f64>| {
        let moments: Vec<f64> = trials.iter().filter_map(|trial| of(&trial.work)).collect();
        (!moments.is_empty()).then(|| mean_of(&moments))
    };
    let work = NeighbourWork { from_s: mean(|work| work.from_s), to_s: mean(|work| work.to_s) };
    (work.from_s.is_some() || work.to_s.is_some()).then_some(work)
}

fn of_mean(effects: &[NeighbourEffect]) -> Option<&NeighbourEffect> {
    effects.iter().find(|effect| effect.of == Of::Mean)
}

fn effects(trials: &[TrialParts]) -> Vec<NeighbourEffect> {
    let are_several = trials.iter().flat_map(|trial| &trial.parts).any(|reading| reading.machines.len() > 1);
    Of::ALL.into_iter().filter(|of| *of != Of::Least || are_several).map(|of| effect(of, trials)).collect()
}

fn effect(of: Of, trials: &[TrialParts]) -> NeighbourEffect {
    let why_none = trials.iter().find_map(|trial| why_unusable(of, trial));
    let usable: &[TrialParts] = if why_none.is_some() { &[] } else { trials };
    let over_blocks = |of_trial: &dyn Fn(&TrialParts) -> Option<f64>| {
        let values = usable.iter().filter_map(|trial| Some((trial.block, of_trial(trial)?)));
        student::geometric_mean_of_blocks(values)
    };
    let level = |part: NeighbourPart| over_blocks(&|trial| value(of, trial, &[part]));
    let ratio = |over: NeighbourPart, under: &[NeighbourPart]| {
        over_blocks(&|trial| Some(value(of, trial, &[over])? / value(of, trial, under)?))
    };
    NeighbourEffect {
        of,
        before: level(NeighbourPart::Before),
        during: level(NeighbourPart::During),
        after: level(NeighbourPart::After),
        during_over_before: ratio(NeighbourPart::During, &[NeighbourPart::Before]),
        during_over_after: ratio(NeighbourPart::During, &[NeighbourPart::After]),
        during_over_both: ratio(NeighbourPart::During, &[NeighbourPart::Before, NeighbourPart::After]),
        after_over_before: ratio(NeighbourPart::After, &[NeighbourPart::Before]),
        why_none,
    }
}

/// A part in which nothing was done has no logarithm. Without it, the rest would look better than it was.
fn why_unusable(of: Of, trial: &TrialParts) -> Option<Missing> {
    let of_part = |reading: &PartReading| {
        let part = reading.part;
        match (of, of.quantile()) {
            (_, Some(quantile)) => {
                (!latency::is_resolved(&reading.responses, quantile)).then_some(Missing::TooFewTransactions { part })
            }
            (Of::Mean, None) => (reading.mean() <= 0.0).then_some(Missing::NothingDoneIn { part }),
            (_, None) => {
                let still = reading.machines.iter().find(|(_, rate)| *rate <= 0.0);
                still.map(|(machine, _)| Missing::NothingDoneIn { part }.of_machine(*machine))
            }
        }
    };
    trial.parts.iter().find_map(of_part).map(|why| why.of_trial(trial.trial))
}

/// The value of several parts together; `None` unless the trial has all of them.
fn value(of: Of, trial: &TrialParts, parts: &[NeighbourPart]) -> Option<f64> {
    let readings: Vec<&PartReading> = parts.iter().map(|part| trial.part(*part)).collect::<Option<_>>()?;
    let mean = |of: fn(&PartReading) -> f64| mean_of(&readings.iter().map(|reading| of(reading)).collect::<Vec<_>>());
    match of.quantile() {
        None if of == Of::Mean => Some(mean(PartReading::mean)),
        None => Some(mean(PartReading::least)),
        Some(quantile) => {
            let all = Counts::merged(readings.iter().map(|reading| &reading.responses));
            all.quantile(quantile).map(|value_us| value_us as f64)
        }
    }
}

#[cfg(test)]
mod tests;
