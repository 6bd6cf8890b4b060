//! The precision that a study asks for in its ratios, and why a run that added blocks for it stopped: part of `plan.json`.
//!
//! `analysis` decides whether it is reached; here are only the types.

use serde::{Deserialize, Serialize};

/// The least number of blocks of a run that may stop once its intervals are narrow. With fewer, an interval that is
/// narrow by chance would also stop the run, and too few intervals would contain the truth: see docs/statistics.md.
pub const FEWEST_BLOCKS: u32 = 10;

/// The precision asked for, and its limits. The plan's blocks grow from `least_blocks` to at most `max_blocks`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Half of the 95 % confidence interval of each throughput ratio, as a share of the ratio: 0.01 is ±1 %.
    pub half_width: f64,
    /// The blocks planned before anything was measured; all others were added.
    pub least_blocks: u32,
    pub max_blocks: u32,
    /// No block is added if it is expected to end after all trials together have taken this long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_ms: Option<u64>,
    /// Absent as long as blocks may be added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<StopReason>,
}

/// Why no further block was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// Every ratio is as precise as asked for.
    Reached,
    /// The plan has its greatest number of blocks.
    MaxBlocks,
    /// Another block would have exceeded the time limit.
    TimeLimit,
    /// The ratios that are not precise enough have too few sound blocks to become so.
    OutOfReach,
}
