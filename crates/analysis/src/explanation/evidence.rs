//! Evidence of the counted trials of two contenders about one quantity: each side's mean, their ratio and their
//! difference, over paired blocks and with Student's t interval.

use crate::contrast::{self, Contrast};
use crate::counted::CountedTrial;
use crate::estimate::Estimate;
use crate::measures::{Measure, Scale};
use crate::student;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A window with fewer samples is not enough to base a statement on.
pub const FEWEST_SAMPLES: usize = 5;

/// A ratio whose interval comes nearer to 1 than this is no explanation.
pub const SMALLEST_RATIO: f64 = 1.05;

/// One of the two contenders: its place in what [`Evidence`] has of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Baseline,
    Contender,
}

pub const BOTH: [Who; 2] = [Who::Baseline, Who::Contender];

/// The counted trials of two contenders, block by block; the baseline's come first.
pub struct Evidence<'a> {
    pub names: [&'a str; 2],
    pub blocks: Vec<PairedBlock<'a>>,
    /// The costs of a transaction on both sides; empty for a single machine.
    pub costs: Vec<MeasurePair>,
}

/// A measure of both contenders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasurePair {
    pub measure: Measure,
    #[serde(flatten)]
    pub pair: OfBoth,
    pub ratio: Estimate,
}

/// Trials of the same block, or of all blocks on one pair of hosts. Neither side is empty, except for a machine that one of the two
/// lacks.
pub type PairedBlock<'a> = [Vec<&'a CountedTrial>; 2];

/// The values of a quantity on both sides: geometric means if there is a ratio, so that it is their quotient.
#[derive(Debug, Clone, PartialEq)]
pub struct ValuePair {
    pub baseline: Estimate,
    pub contender: Estimate,
    /// Contender over baseline; `None` if one is not positive in some block.
    pub ratio: Option<Estimate>,
    /// Contender minus baseline.
    pub difference: Contrast,
}

/// The same quantity for both contenders, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfBoth {
    pub baseline: String,
    pub contender: String,
    pub of_baseline: Estimate,
    pub of_contender: Estimate,
}

impl<'a> Evidence<'a> {
    pub fn trials(&self, who: Who) -> impl Iterator<Item = &'a CountedTrial> {
        self.blocks.iter().flat_map(move |block| &block[who as usize]).copied()
    }

    pub fn name(&self, who: Who) -> String {
        self.names[who as usize].to_owned()
    }

    /// The numbers of the machines that ran side by side; empty where each trial had one machine.
    pub fn machines(&self) -> BTreeSet<u32> {
        let trials = BOTH.into_iter().flat_map(|who| self.trials(who));
        trials.flat_map(|trial| trial.machines.iter().map(|(number, _)| *number)).collect()
    }

    /// The name of a machine in a statement about one machine only: the contender's name, with its number if there are several.
    pub fn called(&self, who: Who, machine: u32) -> String {
        let is_one_of_several = self.trials(who).any(|trial| !trial.machines.is_empty());
        let name = self.name(who);
        if is_one_of_several { format!("{name} machine {machine}") } else { name }
    }

    /// The evidence for one machine of each trial, under these names. A trial of one machine counts as machine 1.
    pub fn of_machine<'b>(&self, machine: u32, names: &'b [String; 2]) -> Evidence<'b>
    where
        'a: 'b,
    {
        let own = |trials: &Vec<&'a CountedTrial>| -> Vec<&'b CountedTrial> {
            trials.iter().filter_map(|trial| of_machine(trial, machine)).collect()
        };
        let blocks = self.blocks.iter().map(|block| block.each_ref().map(own)).collect();
        Evidence { names: names.each_ref().map(String::as_str), blocks, costs: Vec::new() }
    }

    /// A contender's mean over the blocks that have it, for a quantity that is never negative.
    pub fn value(&self, who: Who, of: &dyn Fn(&CountedTrial) -> Option<f64>) -> Option<Estimate> {
        student::mean_amount(self.each(who, of))
    }

    /// The same for a quantity that may be negative, such as a difference.
    pub fn signed_value(&self, who: Who, of: &dyn Fn(&CountedTrial) -> Option<f64>) -> Option<Estimate> {
        student::mean(self.each(who, of))
    }

    /// The same if it is surely above a limit.
    pub fn above(&self, limit: f64, who: Who, of: &dyn Fn(&CountedTrial) -> Option<f64>) -> Option<Estimate> {
        self.value(who, of).filter(|found| found.bounds.known().is_some_and(|(low, _)| low > limit))
    }

    fn each(&self, who: Who, of: &dyn Fn(&CountedTrial) -> Option<f64>) -> Vec<f64> {
        self.blocks.iter().filter_map(|block| mean(&block[who as usize], of)).collect()
    }

    /// Both sides, over the blocks in which both have the quantity.
    pub fn pair(&self, of: &dyn Fn(&CountedTrial) -> Option<f64>) -> Option<ValuePair> {
        let of_block = |[baseline, contender]: &PairedBlock<'_>| Some((mean(baseline, of)?, mean(contender, of)?));
        let pairs: Vec<(f64, f64)> = self.blocks.iter().filter_map(of_block).collect();
        let paired = |scale| {
            contrast::paired(
                "",
                scale,
                (1..).zip(&pairs).map(|(block, (baseline, contender))| (block, *baseline, *contender)),
            )
        };
        let ratio = paired(Scale::Ratio).map(|ratio| ratio.estimate);
        let level = |values: Vec<f64>| match ratio {
            Some(_) => student::geometric_mean(&values),
            None => student::mean_amount(values),
        };
        Some(ValuePair {
            baseline: level(pairs.iter().map(|pair| pair.0).collect())?,
            contender: level(pairs.iter().map(|pair| pair.1).collect())?,
            ratio,
            difference: paired(Scale::Difference)?,
        })
    }

    /// Both values with the contenders' names.
    pub fn both(&self, of_baseline: Estimate, of_contender: Estimate) -> OfBoth {
        let [baseline, contender] = self.names.map(str::to_owned);
        OfBoth { baseline, contender, of_baseline, of_contender }
    }
}

/// The mean over a contender's trials; `None` unless all of them have the quantity.
fn mean(trials: &[&CountedTrial], of: &dyn Fn(&CountedTrial) -> Option<f64>) -> Option<f64> {
    let sum: Option<f64> = trials.iter().map(|trial| of(trial)).sum();
    sum.map(|sum| sum / trials.len() as f64).filter(|mean| mean.is_finite())
}

fn of_machine(trial: &CountedTrial, machine: u32) -> Option<&CountedTrial> {
    if trial.machines.is_empty() {
        return Some(trial).filter(|_| machine == 1);
    }
    trial.machines.iter().find(|(number, _)| *number == machine).map(|(_, own)| own)
}

/// The end of an interval that is nearer to `neutral`; `None` if the interval contains it.
pub fn nearest_end(estimate: &Estimate, neutral: f64) -> Option<f64> {
    match estimate.bounds.known()? {
        (low, _) if low > neutral => Some(low),
        (_, high) if high < neutral => Some(high),
        _ => None,
    }
}

/// True if a ratio surely differs from one by enough to explain something.
pub fn is_apart(ratio: &Estimate) -> bool {
    nearest_end(ratio, 1.0).is_some_and(|end| end.max(1.0 / end) > SMALLEST_RATIO)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::counted::SideCounts;

    pub fn trial(transactions: f64) -> CountedTrial {
        CountedTrial {
            cell: 0,
            block: 1,
            transactions,
            host: Ok(SideCounts::default()),
            machine: Ok(SideCounts::default()),
            response_ms: None,
            lock_ms: None,
            machines: Vec::new(),
        }
    }

    fn evidence<'a>(baseline: &'a [CountedTrial], contender: &'a [CountedTrial]) -> Evidence<'a> {
        let block = |(one, other)| [vec![one], vec![other]];
        let blocks = baseline.iter().zip(contender).map(block).collect();
        Evidence { names: ["native", "kvm"], blocks, costs: Vec::new() }
    }

    /// `d = [105, 95, 112, 98]`, `scipy.stats.t.interval(0.95, 3, numpy.mean(d), scipy.stats.sem(d))` (scipy 1.17.1) is
    /// 90.4165 to 114.5835.
    #[test]
    fn a_difference_has_the_interval_scipy_finds() {
        let baseline = [100.0, 110.0, 90.0, 105.0].map(trial);
        let contender = [205.0, 205.0, 202.0, 203.0].map(trial);
        let pair = evidence(&baseline, &contender).pair(&|trial| Some(trial.transactions)).unwrap();
        let (low, high) = pair.difference.estimate.bounds.known().unwrap();
        assert!((pair.difference.estimate.point - 102.5).abs() < 1e-12);
        assert!((low - 90.4165).abs() < 1e-3 && (high - 114.5835).abs() < 1e-3, "{low} {high}");
        assert_eq!(nearest_end(&pair.difference.estimate, 0.0), Some(low));
        let quotient = pair.contender.point / pair.baseline.point;
        assert!((pair.ratio.unwrap().point - quotient).abs() < 1e-12);
    }

    /// `d = [1, 1, 9]`, `scipy.stats.t.interval(0.95, 2, numpy.mean(d), scipy.stats.sem(d))` (scipy 1.17.1) is -7.8071 to
    /// 15.1404.
    #[test]
    fn what_cannot_be_below_nothing_has_no_interval_that_is() {
        let baseline = [1.0, 1.0, 9.0].map(trial);
        let found = evidence(&baseline, &baseline);
        let ends = |estimate: Option<Estimate>| estimate.unwrap().bounds.known().unwrap();
        let (low, high) = ends(found.value(Who::Baseline, &|trial| Some(trial.transactions)));
        assert!(low.to_bits() == 0.0_f64.to_bits() && (high - 15.1404).abs() < 1e-3, "{low} {high}");
        let (low, _) = ends(found.signed_value(Who::Baseline, &|trial| Some(trial.transactions)));
        assert!((low + 7.8071).abs() < 1e-3, "{low}");
    }

    #[test]
    fn a_zero_leaves_a_difference_but_no_ratio_and_what_is_missing_leaves_nothing() {
        let (baseline, contender) = ([0.0, 0.0, 0.0].map(trial), [3.0, 4.0, 5.0].map(trial));
        let found = evidence(&baseline, &contender);
        let pair = found.pair(&|trial| Some(trial.transactions)).unwrap();
        assert_eq!((pair.ratio, pair.difference.estimate.point.to_bits()), (None, 4.0_f64.to_bits()));
        assert_eq!(found.pair(&|_| None), None);
        assert_eq!(
            found
                .value(Who::Contender, &|trial| Some(1.0).filter(|_| trial.transactions > 3.5))
                .unwrap()
                .bounds
                .known(),
            None
        );
    }
}
