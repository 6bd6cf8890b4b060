//! The order for a run, and how it can end.

use crate::error::AttemptError;
use crate::preparation::error::PreparationError;
use crate::site::Site;
use images::Image;
use machines::interrupts::Interrupts;
use machines::scratch::ScratchError;
use record::error::RecordError;
use record::folder::RunFolder;
use record::plan::{Plan, PlannedTrial};
use record::trial::Outcome;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use study::{CellError, TypedCell, TypedPlan};
use telemetry::Latest;

#[derive(Debug, thiserror::Error)]
pub enum ConductorError {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    #[error("the plan cannot be carried out: {0}")]
    Cell(#[from] CellError),
    #[error(transparent)]
    Preparation(#[from] PreparationError),
    #[error("keeping a copy of {} for the run: {source}", .agent.display())]
    Program { agent: PathBuf, source: io::Error },
    #[error("trial {id}: {error}")]
    Attempt { id: u32, error: AttemptError },
}

/// Images by recipe and kernel.
pub type Images = BTreeMap<(String, String), Image>;

/// The order for a run.
pub struct RunOrder<'a> {
    pub folder: &'a RunFolder,
    pub plan: &'a TypedPlan,
    /// Trials of the plan to execute now; complete ones are skipped.
    pub trials: &'a [PlannedTrial],
    /// Cells whose durability is audited after the trials, if the plan says how; those that have an audit are skipped.
    pub audits: &'a [u32],
    pub site: &'a Site,
    /// Why this host cannot run the trials of some cells, by cell. They are skipped.
    pub missing: &'a BTreeMap<u32, String>,
    /// The images that the trials need, from [`images()`].
    pub images: &'a Images,
    pub interrupts: &'a Interrupts,
    pub resumed: bool,
    /// Warnings about the run, given before its first trial.
    pub notes: &'a [String],
    /// Whether to repeat trials that are complete but came to no result.
    pub retries: bool,
    /// Where the host's last sample is shown while load is driven; `None` if nobody looks.
    pub latest: Option<&'a Arc<Latest>>,
}

/// What follows after all trials of the order: the plan with one more block, or the reason why none is added.
pub struct NextPlan {
    pub plan: Plan,
    /// How long the added trials are expected to take.
    pub expected_ms: u64,
    /// A phrase, not a sentence.
    pub why: String,
}

/// Returns what follows, given the run's folder. It analyses the record, which the conductor does not understand. For
/// most plans it returns `None`.
pub type WhatFollows<'a> = dyn FnMut(&RunFolder) -> Result<Option<NextPlan>, RecordError> + 'a;

/// How the trials of this call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tallied {
    pub completed: u32,
    pub invalid: u32,
    pub failed: u32,
    pub skipped: u32,
    pub interrupted: bool,
}

impl Tallied {
    pub(crate) fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Completed => self.completed += 1,
            Outcome::Invalid { .. } => self.invalid += 1,
            Outcome::Failed { .. } => self.failed += 1,
            Outcome::Skipped { .. } => self.skipped += 1,
            Outcome::Interrupted { .. } => self.interrupted = true,
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        let Self { completed, invalid, failed, skipped, interrupted } = other;
        self.completed += completed;
        self.invalid += invalid;
        self.failed += failed;
        self.skipped += skipped;
        self.interrupted |= interrupted;
    }
}

/// The key of a cell's image in [`Images`].
pub fn image_name(cell: &TypedCell) -> (String, String) {
    (cell.machine.image.clone(), cell.machine.kernel.to_string())
}
