//! How precise a study wishes its ratios to be, and why a run that added blocks for that stopped: a part of `plan.json`.
//!
//! Whether the wish is fulfilled is for `analysis` to say; here are the words for it.

use serde::{Deserialize, Serialize};

/// The least number of blocks of a run that may stop once its intervals are narrow. With fewer, chance that makes an
/// interval narrow also stops the run, and intervals hold the truth too seldom: see docs/statistics.md.
pub const FEWEST_BLOCKS: u32 = 10;

/// A wish and its limits. The blocks of the plan grow from `least_blocks` to at most `max_blocks`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Half of the 95 % confidence interval of each throughput ratio, as a share of the ratio: 0.01 is ±1 %.
    pub half_width: f64,
    /// Planned before anything was measured; all others were added.
    pub least_blocks: u32,
    pub max_blocks: u32,
    /// No block is added that is not expected to end before the trials have taken this long together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_ms: Option<u64>,
    /// Absent as long as blocks may be added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// Why no further block was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Every ratio is as precise as wished.
    Reached,
    /// The plan has its greatest number of blocks.
    MaxBlocks,
    /// Another block would not have fitted into the limit of time.
    TimeLimit,
    /// The ratios that are not precise enough have too few sound blocks to become so.
    OutOfReach,
}
