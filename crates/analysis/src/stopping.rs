//! Whether a run is as precise as its study wishes, or needs another block.
//!
//! The rule is sequential: it checks after every block and stops as soon as all intervals are narrow enough. This
//! favours runs whose intervals are narrow by chance, which costs coverage. A least number of blocks bounds that cost
//! (see the tests for how much it is). The interval that decides is the one behind the verdicts.

use crate::compare::{self, Comparison, RatioVerdict};
use crate::contrast::Contrast;
use crate::measures::THROUGHPUT_ONLY;
use crate::observations::Observations;
use record::plan::Plan;
use record::precision::{Precision, StopReason};
use record::run::Run;
use serde::{Deserialize, Serialize};

/// Whether the wished precision was reached (`analysis.json`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attained {
    /// The wish, its limits, and why no more blocks were added.
    #[serde(flatten)]
    pub wish: Precision,
    /// The number of blocks, planned and added.
    pub blocks: u32,
    pub ratios: Vec<RatioPrecision>,
}

/// How precisely one throughput ratio is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatioPrecision {
    pub coordinates: String,
    pub baseline: String,
    pub contender: String,
    /// Half of the 95 % confidence interval behind the verdict, as a share of the ratio; `None` if there is no interval.
    pub half_width_found: Option<f64>,
    /// True if more blocks may change anything. Wrong data refuses the verdict for good. Where hardly any block could
    /// be paired, the next will not be either.
    pub in_reach: bool,
}

/// What a run does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextBlock {
    AnotherBlock,
    Stop(StopReason),
}

/// `None` if the study wishes for no precision.
pub fn attained(plan: &Plan, comparisons: &[Comparison]) -> Option<Attained> {
    let wish = plan.precision?;
    Some(Attained { wish, blocks: plan.blocks, ratios: comparisons.iter().map(of_comparison).collect() })
}

/// What to do after all planned trials of a run have ended; `None` if there is nothing to decide.
pub fn next(run: &Run) -> Option<(Attained, NextBlock)> {
    let observations = Observations::of_run(run, THROUGHPUT_ONLY);
    let attained =
        attained(&run.plan, &compare::all(run, &observations)).filter(|attained| attained.wish.ended.is_none())?;
    let next = decide(&attained, spent_ms(run));
    Some((attained, next))
}

fn of_comparison(comparison: &Comparison) -> RatioPrecision {
    let half_width_found = comparison.throughput().and_then(half_width);
    RatioPrecision {
        coordinates: comparison.coordinates.clone(),
        baseline: comparison.baseline.clone(),
        contender: comparison.contender.clone(),
        half_width_found,
        in_reach: half_width_found.is_some() && comparison.verdict != RatioVerdict::WrongData,
    }
}

/// Half of the interval, as a share of the ratio at its middle.
fn half_width(ratio: &Contrast) -> Option<f64> {
    ratio.estimate.bounds.known().map(|(low, high)| (high / low).sqrt() - 1.0)
}

impl Attained {
    /// The ratios that are less precise than wished.
    pub fn lacking(&self) -> impl Iterator<Item = &RatioPrecision> {
        let is_wide = |ratio: &RatioPrecision| ratio.half_width_found.is_none_or(|found| found > self.wish.half_width);
        self.ratios.iter().filter(move |ratio| is_wide(ratio) || !ratio.in_reach)
    }
}

/// `spent_ms` is the time of all trials together.
fn decide(attained: &Attained, spent_ms: u64) -> NextBlock {
    let (wish, blocks) = (attained.wish, attained.blocks);
    let each_ms = spent_ms / u64::from(blocks.max(1));
    let is_late = |limit_ms: u64| spent_ms.saturating_add(each_ms) > limit_ms;
    if attained.lacking().next().is_none() {
        NextBlock::Stop(StopReason::Reached)
    } else if !attained.lacking().any(|ratio| ratio.in_reach) {
        NextBlock::Stop(StopReason::OutOfReach)
    } else if blocks >= wish.max_blocks {
        NextBlock::Stop(StopReason::MaxBlocks)
    } else if wish.time_limit_ms.is_some_and(is_late) {
        NextBlock::Stop(StopReason::TimeLimit)
    } else {
        NextBlock::AnotherBlock
    }
}

fn spent_ms(run: &Run) -> u64 {
    run.trials.iter().map(|trial| trial.record.took_ms()).sum()
}

#[cfg(test)]
mod tests;
