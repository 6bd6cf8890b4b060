//! Every value of every measure, in one long table: trial, block, cell, machine, measure, value.
//!
//! It contains only valid trials ([`validity::is_valid`]). Means of cells and comparisons between cells are computed
//! here and nowhere else: a block counts once, however many trials it has.

use crate::contrast::{self, Contrast};
use crate::estimate::Estimate;
use crate::gathered::by_key;
use crate::measures::latency::rounding;
use crate::measures::machines;
use crate::measures::{Measure, MeasureEntry, MeasureReading, Scale};
use crate::missing::Missing;
use crate::pairing::Pairing;
use crate::student;
use crate::validity;
use record::run::{Run, StoredTrial};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One value, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub trial: u32,
    pub block: u32,
    pub cell: u32,
    /// The machine it belongs to, if there are several; `None` for all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<u32>,
    pub value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_none: Option<Missing>,
    /// How many transactions, seconds or samples are behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
}

/// A measure with all its values in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredValues {
    #[serde(flatten)]
    pub measure: Measure,
    /// In the order of trials; within a trial, all machines together come first, then each one.
    pub observations: Vec<Observation>,
}

/// The mean of a cell's trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellMean {
    pub measure: String,
    #[serde(flatten)]
    pub estimate: Estimate,
    /// How many trials have a value.
    pub trials: usize,
}

/// The table of a run, by measure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Observations {
    measures: Vec<MeasuredValues>,
}

impl Observations {
    pub fn of_run(run: &Run, catalog: &[MeasureEntry]) -> Self {
        let mut found = Self::default();
        let mut places = BTreeMap::new();
        let mut trials: Vec<&StoredTrial> = run.trials.iter().filter(|trial| validity::is_valid(trial)).collect();
        trials.sort_unstable_by_key(|trial| trial.record.id);
        for entry in catalog {
            for trial in &trials {
                found.add(&mut places, trial, None, entry(trial));
                for (number, machine) in trial.measured_machines().filter(|_| !trial.machines.is_empty()) {
                    found.add(&mut places, trial, Some(number), entry(machine));
                }
            }
        }
        found
    }

    fn add(
        &mut self,
        places: &mut BTreeMap<String, usize>,
        trial: &StoredTrial,
        machine: Option<u32>,
        readings: Vec<MeasureReading>,
    ) {
        let record = &trial.record;
        for MeasureReading { measure, value, n } in readings {
            let place = *places.entry(measure.id.clone()).or_insert_with(|| {
                self.measures.push(MeasuredValues { measure, observations: Vec::new() });
                self.measures.len() - 1
            });
            let (value, why_none) = match value {
                Ok(value) if value.is_finite() => (Some(value), None),
                Ok(_) => (None, Some(Missing::NotANumber)),
                Err(why) => (None, Some(why)),
            };
            let (trial, block, cell) = (record.id, record.block, record.cell);
            self.measures[place].observations.push(Observation { trial, block, cell, machine, value, why_none, n });
        }
    }

    pub fn measures(&self) -> impl Iterator<Item = &MeasuredValues> {
        self.measures.iter()
    }

    pub fn measure(&self, id: &str) -> Option<&MeasuredValues> {
        self.measures.iter().find(|measured| measured.measure.id == id)
    }

    /// The mean of the cell's trials, for all machines together.
    pub fn level(&self, id: &str, cell: u32) -> Option<CellMean> {
        self.measure(id)?.level(cell)
    }
}

impl MeasuredValues {
    /// The scale on which values of this run are compared: if one is not above 0, there is no ratio.
    pub fn scale(&self) -> Scale {
        let all_positive = || self.observations.iter().filter_map(|one| one.value).all(|value| value > 0.0);
        if self.measure.scale == Scale::Ratio && !all_positive() { Scale::Difference } else { self.measure.scale }
    }

    /// The trials of a cell, all machines together.
    pub fn of_cell(&self, cell: u32) -> impl Iterator<Item = &Observation> {
        self.observations.iter().filter(move |one| one.cell == cell && one.machine.is_none())
    }

    /// One value for each block of a cell. `None` if a trial has a reason for having no value, since the others would
    /// be a biased selection.
    pub fn by_block(&self, cell: u32) -> Option<BTreeMap<u32, f64>> {
        let values: Option<Vec<(u32, f64)>> = self.of_cell(cell).map(|one| Some((one.block, one.value?))).collect();
        Some(means_of_blocks(self.scale(), values?))
    }

    /// The same with the sum of a trial's machines, or with one of them.
    pub fn of_machines_by_block(&self, cell: u32, machine: Option<u32>) -> Option<BTreeMap<u32, f64>> {
        let mut trials: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let is_asked = |one: &&Observation| one.machine.is_some() && (machine.is_none() || one.machine == machine);
        for one in self.observations.iter().filter(|one| one.cell == cell).filter(is_asked) {
            *trials.entry((one.block, one.trial)).or_default() += one.value?;
        }
        Some(means_of_blocks(self.scale(), trials.into_iter().map(|((block, _), sum)| (block, sum)).collect()))
    }

    /// The mean of these values of blocks.
    pub fn mean_of(&self, blocks: &BTreeMap<u32, f64>) -> Option<Estimate> {
        mean(self.scale(), &blocks.values().copied().collect::<Vec<_>>())
    }

    /// The variance of the logarithms of blocks' values that is due to rounding: of a cell's values, or of the ratios of two cells.
    pub(crate) fn rounding(&self, cells: &[u32]) -> f64 {
        let of_cell = |cell: &u32| {
            let values = self.by_block(*cell).unwrap_or_default().into_values();
            let squares: Vec<f64> = values.map(|value| rounding(&self.measure.id, value).powi(2)).collect();
            if squares.is_empty() { 0.0 } else { student::mean_of(&squares) }
        };
        cells.iter().map(of_cell).sum()
    }

    pub fn level(&self, cell: u32) -> Option<CellMean> {
        let blocks: Vec<f64> = self.by_block(cell)?.into_values().collect();
        let estimate = mean(self.scale(), &blocks)?.no_surer_than(&[(self.rounding(&[cell]), blocks.len())]);
        let estimate = estimate.within(machines::least(&self.measure.id), f64::INFINITY);
        Some(CellMean { measure: self.measure.id.clone(), estimate, trials: self.of_cell(cell).count() })
    }

    /// A contender compared with the baseline, over the blocks that both have.
    pub fn paired(&self, pairing: &Pairing<'_>) -> Option<Contrast> {
        let [base, own] = [pairing.baseline, pairing.contender].map(|cell| self.by_block(cell));
        self.paired_on(self.scale(), pairing, [&base?, &own?])
    }

    /// The same of these values of blocks, on this scale.
    pub(crate) fn paired_on(
        &self,
        scale: Scale,
        pairing: &Pairing<'_>,
        [base, own]: [&BTreeMap<u32, f64>; 2],
    ) -> Option<Contrast> {
        let both = pairing.values(base, own);
        let mean =
            |of: fn(&(u32, f64, f64)) -> f64| means_of_blocks(scale, both.iter().map(|one| (one.0, of(one))).collect());
        let (base, own) = (mean(|one| one.1), mean(|one| one.2));
        let pairs = own.iter().filter_map(|(unit, own)| Some((*unit, *base.get(unit)?, *own)));
        let Contrast { estimate, spread, blocks, .. } = contrast::paired(&self.measure.id, scale, pairs)?;
        let variance = self.rounding(&[pairing.baseline, pairing.contender]);
        let estimate = estimate.no_surer_than(&[(variance, blocks.len())]);
        let spread = spread.map(|spread| spread.max(variance.sqrt()));
        Some(Contrast { measure: self.measure.id.clone(), scale, estimate, spread, blocks })
    }

    /// The same cell in two runs, whose blocks are not paired.
    pub fn unpaired(&self, cell: u32, old: &Self, old_cell: u32) -> Option<Contrast> {
        let on = |scale: Scale| [old, self].iter().all(|measured| measured.scale() == scale);
        let scale = if on(Scale::Ratio) { Scale::Ratio } else { Scale::Difference };
        let sample = |measured: &Self, cell: u32| {
            Some((measured.by_block(cell)?.into_values().collect(), measured.rounding(&[cell])))
        };
        contrast::unpaired(&self.measure.id, scale, &[sample(old, old_cell)?, sample(self, cell)?])
    }
}

fn means_of_blocks(scale: Scale, values: Vec<(u32, f64)>) -> BTreeMap<u32, f64> {
    if scale == Scale::Ratio {
        return student::by_block(values);
    }
    let blocks: BTreeMap<u32, Vec<f64>> = by_key(values);
    blocks.into_iter().map(|(block, values)| (block, student::mean_of(&values))).collect()
}

fn mean(scale: Scale, blocks: &[f64]) -> Option<Estimate> {
    if scale == Scale::Ratio {
        return student::geometric_mean(blocks);
    }
    let found = contrast::unless_never_seen(blocks, student::mean_amount(blocks.to_vec())?);
    let most = if scale == Scale::Proportion { 1.0 } else { f64::INFINITY };
    Some(found.within(0.0, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::CATALOG;
    use record::synthetic;

    /// Every trial took the same times, in whole microseconds.
    #[test]
    fn percentiles_that_are_equal_after_rounding_are_not_certain() {
        let mut run = synthetic::run(3);
        let same = run.trials[0].measured.clone();
        run.trials.iter_mut().for_each(|trial| trial.measured.clone_from(&same));
        let observations = Observations::of_run(&run, CATALOG);
        let of = |id: &str| observations.measure(id).unwrap();
        let wide = |estimate: &Estimate| {
            let (low, high) = estimate.bounds.known().unwrap();
            low < estimate.point && estimate.point < high && high / low < 1.01
        };
        let percentile = of("response.p95/new-order");
        let pairing = Pairing::of(&run, &run.plan.cells[0], &run.plan.cells[1]);
        let change = percentile.paired(&pairing).unwrap();
        assert!(wide(&change.estimate) && wide(&percentile.level(0).unwrap().estimate), "{change:?}");
        assert!(change.spread.unwrap() > 0.0 && change.p_equal() == Some(1.0), "{change:?}");
        assert!(wide(&percentile.unpaired(0, percentile, 0).unwrap().estimate));
        // A mean is not rounded.
        assert_eq!(of("response.mean/new-order").paired(&pairing).unwrap().spread, Some(0.0));
    }
}
