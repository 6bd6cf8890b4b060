//! What is wrong with a record, or with reading and writing it.

use crate::text::visible;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{doing} {path}: {source}")]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{path}: not what this version of bakeoff writes: {}", visible(&.source.to_string()))]
    Format { path: PathBuf, source: serde_json::Error },
    #[error("{path} has format {found}; this build reads formats up to {newest}")]
    Newer { path: PathBuf, found: u32, newest: u32 },
    /// The lock's holder wrote its process id into the file when it took the lock.
    #[error("{path} is in use by another bakeoff")]
    InUse { path: PathBuf, process: Option<u32>, lock: PathBuf },
    #[error("{path}: {}", visible(.why))]
    Content { path: PathBuf, why: String },
}

/// An error about the content of a file.
pub(crate) fn content(path: &Path, why: impl Into<String>) -> RecordError {
    RecordError::Content { path: path.to_owned(), why: why.into() }
}

/// Adds to an I/O error what was being done, and to which file.
pub(crate) fn failing(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RecordError {
    let path = path.to_owned();
    move |source| RecordError::Io { doing, path, source }
}
