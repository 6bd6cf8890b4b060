//! What can go wrong before the trials of a cell.

use crate::conversation::AskError;
use agent::protocol::Failure;
use images::ImageError;
use machines::cached::CachedError;
use machines::limits;
use machines::machine::MachineError;
use machines::scratch::ScratchError;
use platforms::capabilities::DataHome;
use record::phase::Phase;
use record::trial::Outcome;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum PreparationError {
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Recipe(#[from] images::RecipeError),
    #[error("making the data disk: {0}")]
    Data(#[from] images::data::DataError),
    #[error("starting a machine to load the data in: {0}")]
    Machine(#[from] MachineError),
    #[error("loading: {0}")]
    Ask(#[from] AskError),
    #[error("the host's disk is full: loading into {folder} failed: {why}")]
    Full { why: String, folder: PathBuf },
    #[error("{doing} {path}: {source}")]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Cached(#[from] CachedError),
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    #[error("the loaded data is not what the workload's definition says: {0}")]
    WrongData(String),
    #[error("{first} and {second} refer to the same machine; name it once")]
    SameMachine { first: String, second: String },
    #[error("load host {host}: {error}")]
    LoadHost { host: String, error: MachineError },
    /// An error about the exception, which has its own data.
    #[error("machine {number}: {error}")]
    OfMachine { number: u32, error: Box<PreparationError> },
}

/// How engines report that the disk below them is full.
const WORDS_OF_A_FULL_DISK: [&str; 2] = ["No space left on device", "disk is full"];

impl PreparationError {
    /// True if no trial of the run could go on, whatever its cell.
    pub fn ends_the_run(&self, home: DataHome) -> bool {
        match self {
            Self::Io { .. }
            | Self::Full { .. }
            | Self::Scratch(_)
            | Self::Cached(CachedError::Io { .. })
            | Self::Machine(MachineError::MissingTool { .. })
            | Self::LoadHost { error: MachineError::MissingTool { .. }, .. } => true,
            Self::Data(error) if error.is_full_host() => true,
            Self::OfMachine { error, .. } => error.ends_the_run(home),
            Self::LoadHost { error, .. } => limits::met_here(error).is_some(),
            other if home == DataHome::Elsewhere => limits::met_here(other).is_some(),
            // Loading happens on the host itself, so a limit that was met is the host's.
            other => limits::met(&other.to_string()).is_some(),
        }
    }

    /// How trials end that are not begun because of this. A platform that is not there is no failure of the contender.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Machine(MachineError::Unavailable { why })
            | Self::LoadHost { error: MachineError::Unavailable { why }, .. } => Outcome::Skipped { why: why.clone() },
            other => Outcome::Failed { phase: Phase::Load.to_string(), why: other.to_string() },
        }
    }

    /// Distinguishes a full disk of this host from a failure of the database itself.
    pub(super) fn if_full(self, home: DataHome, folder: &Path) -> Self {
        match self {
            Self::Ask(AskError::Refused(Failure { why, log, .. }))
                if home != DataHome::Elsewhere
                    && WORDS_OF_A_FULL_DISK.iter().any(|words| why.contains(words) || log.contains(words)) =>
            {
                Self::Full { why, folder: folder.to_owned() }
            }
            other => other,
        }
    }
}

pub(crate) fn failing(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> PreparationError {
    let path = path.to_owned();
    move |source| PreparationError::Io { doing, path, source }
}
