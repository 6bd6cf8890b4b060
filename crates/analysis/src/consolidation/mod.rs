//! Several machines of equal shape side by side on one host: what the worst-off machine gets, and what all get together.
//!
//! Everything is over the valid trials of one cell, block by block. The minimum is the headline: whoever puts several
//! databases on one host has promised something to each. What one machine does alone, and what the host gives to one
//! machine, come from one-machine cells of the same study, if it has any.

pub mod alone;
pub mod attribution;
pub mod bystander;
pub mod chance;
pub mod neighbour;
pub mod reasons;
pub mod side_by_side;
pub mod skew;
pub mod slots;
pub mod unlike;

pub use side_by_side::{SideBySide, of};

use crate::contrast::Position;
use crate::estimate::Estimate;
use crate::findings::{Finding, What};
use crate::measures::throughput::THROUGHPUT;
use crate::missing::Missing;
use crate::observations::Observations;
use crate::student::mean_of;
use crate::{throughput, validity};
use alone::{AloneCell, Efficiency};
use attribution::Attribution;
use bystander::Bystander;
use chance::AgainstChance;
use neighbour::Neighbour;
use reasons::MachineReason;
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::trial::Metric;
use serde::{Deserialize, Serialize};
use skew::TrialSkew;
use slots::StartSlot;
use unlike::Unlike;

/// A cell with several machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consolidation {
    pub cell: u32,
    pub contender: String,
    pub baseline: bool,
    pub coordinates: String,
    /// How many machines are measured side by side: all but one that only disturbs or stands idle.
    pub machines: usize,
    /// The vCPUs of each machine.
    pub vcpus: Option<u64>,
    pub memory_bytes: Option<u64>,
    /// The metric of one machine.
    pub metric: Metric,
    /// What the machine did that is not measured, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bystander: Option<Bystander>,
    /// Its throughput: what the slowest machine does, in the metric's unit. What all do together is among the measures
    /// ([`crate::measures::machines`]).
    pub minimum: Option<Estimate>,
    /// Over what one machine does alone.
    pub minimum_of_alone: Option<Estimate>,
    /// Each machine by itself, in the order of their numbers.
    pub slots: Vec<StartSlot>,
    /// Why machines that are held back or behind get less, as far as is known.
    pub reasons: Vec<MachineReason>,
    /// How much of that is due to machines, to their places or to their start order; absent from old files.
    pub attribution: Option<Attribution>,
    /// `None` for fewer than two machines.
    pub chance: Option<AgainstChance>,
    /// The cell in which one such machine is alone, if the study has one.
    pub alone: Option<AloneCell>,
    /// The cell in which one machine of the baseline is alone under the same load, if these are not the baseline's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_baseline: Option<AloneCell>,
    pub efficiency: Option<Efficiency>,
    /// Plain readings of every valid trial.
    pub trials: Vec<TrialReadings>,
    /// Why valid trials were left out.
    pub left_out: Vec<Missing>,
    pub skew: Vec<TrialSkew>,
    /// Properties that the machines of a trial should share but do not.
    pub unlike: Vec<Unlike>,
    /// What the measured machines get beside one whose load comes or goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<Neighbour>,
}

impl Consolidation {
    /// True if this is the given cell, and the load of a neighbour comes or goes within its trials.
    pub fn is_disturbed(&self, cell: u32) -> bool {
        self.cell == cell && self.neighbour.as_ref().is_some_and(|neighbour| neighbour.work.is_some())
    }

    /// Whether its machines were to be equal: none of them is set apart.
    pub fn are_equal(&self) -> bool {
        self.slots.len() > 1 && self.neighbour.is_none()
    }

    /// Of the machine, or of the place or the start order, that is farthest from the mean of the others.
    pub fn most_unequal(&self) -> Option<&Estimate> {
        let labels = self.attribution.iter().flat_map(|found| &found.labels);
        let levels = labels
            .flat_map(|label| &label.levels)
            .filter(|level| matches!(level.position, Position::Below | Position::Above));
        let each = self.slots.iter().filter_map(|slot| slot.of_others.as_ref());
        let each = each.chain(levels.filter_map(|level| level.effect.as_ref()));
        each.max_by(|one, other| one.point.ln().abs().total_cmp(&other.point.ln().abs()))
    }

    /// Between these each machine lies around the mean of the others, with the confidence of all intervals together.
    pub fn shares_within(&self) -> Option<(f64, f64)> {
        let each = self.slots.iter().map(|slot| slot.of_others.as_ref()?.bounds.known());
        let each: Option<Vec<(f64, f64)>> = each.collect();
        each?.into_iter().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }
}

/// The readings of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialReadings {
    pub trial: u32,
    pub block: u32,
    /// Each machine's number and throughput.
    pub machines: Vec<(u32, f64)>,
    #[serde(flatten)]
    pub together: SideBySide,
}

/// Every cell with several machines that has a valid trial.
pub fn all(run: &Run, observations: &Observations) -> Vec<Consolidation> {
    let of_several = run.plan.cells.iter().filter(|cell| cell.machines() > 1);
    of_several.filter_map(|cell| of_cell(run, observations, cell)).collect()
}

fn of_cell(run: &Run, observations: &Observations, cell: &Cell) -> Option<Consolidation> {
    let (trials, left_out) = readings(run, cell);
    let first = validity::valid_trials(run, cell.id).next()?;
    let alone = alone::of_one(&run.plan, cell).filter(|one| validity::valid_trials(run, one.id).next().is_some());
    let machines = trials.first().map_or(0, |trial| trial.machines.len());
    let of_baseline = alone::of_baseline(&run.plan, cell);
    let over = |one: Option<&Cell>, machine: Option<u32>| {
        alone::over(run, observations, [one?, cell], |measured| match machine {
            Some(_) => measured.of_machines_by_block(cell.id, machine),
            None => measured.by_block(cell.id),
        })
    };
    let slots = slots::all(&trials, |machine| [alone, of_baseline].map(|one| over(one, Some(machine))));
    Some(Consolidation {
        cell: cell.id,
        contender: cell.contender.clone(),
        baseline: cell.baseline,
        coordinates: cell.coordinates(),
        machines,
        vcpus: cell.settings.machine().vcpus.map(u64::from),
        memory_bytes: cell.settings.machine().memory_bytes,
        metric: first.record.driver.as_ref().map(|driver| driver.metric.clone()).unwrap_or_default(),
        bystander: bystander::of_cell(run, cell),
        minimum: observations.level(THROUGHPUT, cell.id).map(|level| level.estimate),
        minimum_of_alone: over(alone, None),
        reasons: reasons::of_cell(run, cell, &slots),
        slots,
        attribution: attribution::of_cell(run, cell, &trials),
        chance: chance::of_trials(&trials),
        alone: alone.map(AloneCell::of),
        of_baseline: of_baseline.filter(|one| observations.level(THROUGHPUT, one.id).is_some()).map(AloneCell::of),
        efficiency: alone::efficiency(run, observations, cell),
        left_out,
        skew: validity::valid_trials(run, cell.id).map(skew::of_trial).collect(),
        unlike: validity::trials_of(run, cell.id).filter_map(unlike::of_trial).collect(),
        neighbour: neighbour::of_cell(run, cell),
        trials,
    })
}

/// The valid trials in which every machine counted something, and why others are left out.
fn readings(run: &Run, cell: &Cell) -> (Vec<TrialReadings>, Vec<Missing>) {
    let (mut found, mut left_out) = (Vec::<TrialReadings>::new(), Vec::new());
    for trial in validity::valid_trials(run, cell.id) {
        match of_trial(trial) {
            Ok(own) if found.first().is_none_or(|first| numbers(first).eq(numbers(&own))) => found.push(own),
            Ok(_) => left_out.push(Missing::OtherMachines.of_trial(trial.record.id)),
            Err(why) => left_out.push(why.of_trial(trial.record.id)),
        }
    }
    (found, left_out)
}

/// The mean of the first of each, of the second, and so on, as far as all have one.
fn means(rows: &[Vec<f64>]) -> Vec<f64> {
    let length = rows.iter().map(Vec::len).min().unwrap_or(0);
    (0..length).map(|place| mean_of(&rows.iter().map(|row| row[place]).collect::<Vec<_>>())).collect()
}

fn numbers(trial: &TrialReadings) -> impl Iterator<Item = u32> {
    trial.machines.iter().map(|(number, _)| *number)
}

fn of_trial(trial: &StoredTrial) -> Result<TrialReadings, Missing> {
    let machines = throughput::of_machines(trial).ok_or(Missing::NoRecord)?;
    let rates: Vec<f64> = machines.iter().map(|(_, rate)| *rate).collect();
    let together = of(&rates).ok_or_else(|| {
        let still = machines.iter().find(|(_, rate)| *rate <= 0.0);
        still.map_or(Missing::NotDriven, |(number, _)| Missing::NothingDone.of_machine(*number))
    })?;
    Ok(TrialReadings { trial: trial.record.id, block: trial.record.block, machines, together })
}

/// Machines that are not alike make the scores meaningless; windows that do not overlap were not measured side by side.
pub fn findings(found: &[Consolidation]) -> Vec<Finding> {
    let left_out = found.iter().flat_map(|one| {
        let beside = one.neighbour.iter().map(|neighbour| (Some(neighbour.machine), &neighbour.left_out));
        let all = std::iter::once((None, &one.left_out)).chain(beside).filter(|(_, why)| !why.is_empty());
        let what = |(beside, why): (_, &Vec<Missing>)| What::TrialsLeftOut { beside, why: why.clone() };
        all.map(move |one_of| Finding::new(what(one_of)).of(&one.contender).at(&one.coordinates))
    });
    unlike::findings(found).into_iter().chain(left_out).chain(found.iter().filter_map(skew::finding)).collect()
}

#[cfg(test)]
mod tests;
