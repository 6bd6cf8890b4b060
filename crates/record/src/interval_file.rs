//! `intervals.hlog` of a trial while it is written: second by second, under another name until it is complete.

use crate::error::{RecordError, failing};
use crate::hlog::{LogError, LogWriter};
use crate::intervals::{Interval, KindInterval};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Dropping this before [`IntervalFile::finish`] removes what was written.
pub struct IntervalFile {
    path: PathBuf,
    partial: PathBuf,
    log: Option<LogWriter<BufWriter<File>>>,
}

impl IntervalFile {
    /// `kinds` are the names of the kinds of transaction, in the workload's order.
    pub fn begin(path: &Path, kinds: Vec<String>) -> Result<Self, RecordError> {
        let partial = path.with_extension("hlog.partial");
        let file = File::create(&partial).map_err(failing("making", &partial))?;
        let mut this = Self { path: path.to_owned(), partial, log: None };
        this.log = Some(LogWriter::begin(BufWriter::new(file), kinds).map_err(|error| this.failed(error))?);
        Ok(this)
    }

    pub fn second(&mut self, interval: &Interval) -> Result<(), RecordError> {
        let written = self.log.as_mut().map_or(Ok(()), |log| log.second(interval));
        written.map_err(|error| self.failed(error))
    }

    /// Adds the transactions that had not ended with the last second, and moves the file into place.
    pub fn finish<'a>(mut self, unended: impl IntoIterator<Item = &'a KindInterval>) -> Result<(), RecordError> {
        let Some(mut log) = self.log.take() else { return Ok(()) };
        unended.into_iter().try_for_each(|part| log.part(part)).map_err(|error| self.failed(error))?;
        let placed = (|| {
            let mut out = log.into_inner();
            out.flush()?;
            fs::rename(&self.partial, &self.path)
        })();
        placed.map_err(failing("writing", &self.path))
    }

    fn failed(&self, error: LogError) -> RecordError {
        match error {
            LogError::Io(source) => failing("writing", &self.path)(source),
            other => RecordError::Content { path: self.path.clone(), why: other.to_string() },
        }
    }
}

impl Drop for IntervalFile {
    fn drop(&mut self) {
        // After `finish` it is not there any more.
        let _ = fs::remove_file(&self.partial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlog;
    use crate::intervals::Span;

    fn second(index: u64) -> Interval {
        let kinds = vec![KindInterval { kind: 0, span: Span::Response, counts: vec![(1_000 + index, 3)] }];
        Interval { start_ms: index * 1_000, length_ms: 1_000, measured: index > 0, kinds }
    }

    #[test]
    fn a_file_written_by_seconds_reads_as_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("intervals.hlog");
        let mut file = IntervalFile::begin(&path, vec!["sale".to_owned()]).unwrap();
        file.second(&second(0)).unwrap();
        file.second(&second(1)).unwrap();
        assert!(!path.exists(), "not before it is whole");
        let unended = KindInterval { kind: 0, span: Span::Unended, counts: vec![(1_300_000, 2)] };
        file.finish([&unended]).unwrap();
        let read = hlog::read(&fs::read(&path).unwrap()[..]).unwrap();
        assert_eq!(read.intervals[0], second(0));
        assert_eq!(read.intervals[1].kinds[0], second(1).kinds[0]);
        let last = &read.intervals[1].kinds[1];
        assert_eq!((last.span, last.counts[0].1), (Span::Unended, 2));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("intervals.hlog");
        let mut file = IntervalFile::begin(&path, vec!["sale".to_owned()]).unwrap();
        file.second(&second(0)).unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
