//! Reads a log that anybody may have written: whatever is wrong is an error that names the entry, and memory has a bound.

use crate::entry::{DiskEvent, ENTRY_BYTES, HEADER_BYTES, Header, LogEntry, Raw, decode};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Longer logs are refused: what is kept in memory grows with the number of entries.
const MOST_LOG_BYTES: u64 = 16 << 30;
/// More flushes and writes than this cannot be under way at once: the kernel sends no more requests.
const MOST_UNDER_WAY: usize = 1 << 16;
const BUFFER_BYTES: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum DiskLogError {
    #[error("reading {}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is not a disk's log: {why}", .path.display())]
    Header { path: PathBuf, why: String },
    #[error("{} has {bytes} bytes, and at most {MOST_LOG_BYTES} are read", .path.display())]
    TooLong { path: PathBuf, bytes: u64 },
    #[error("{} is cut off within entry {entry}", .path.display())]
    CutOff { path: PathBuf, entry: u64 },
    #[error("entry {entry} of {} is wrong: {why}", .path.display())]
    Entry { path: PathBuf, entry: u64, why: String },
    #[error("{} has {entries} entries, so there is no position {position}", .path.display())]
    Position { path: PathBuf, entries: u64, position: u64 },
}

/// A log, read from its beginning.
#[derive(Debug)]
pub struct LogReader {
    path: PathBuf,
    input: BufReader<File>,
    header: Header,
    /// How long the log was when it was opened.
    bytes: u64,
    /// How many entries were read.
    entries: u64,
    /// Bytes that are left behind what was read, data of the last entry included.
    left: u64,
    /// Data of the last entry that was not read.
    unread: u32,
    /// Flushes and writes with `fua` that have not ended, with whether it is a flush and its begin.
    under_way: HashMap<u64, (bool, u64)>,
    last_ns: u64,
}

impl LogReader {
    pub fn open(path: &Path) -> Result<Self, DiskLogError> {
        let failing = |source| DiskLogError::Io { path: path.to_owned(), source };
        let wrong = |why| DiskLogError::Header { path: path.to_owned(), why };
        let file = File::open(path).map_err(failing)?;
        let bytes = file.metadata().map_err(failing)?.len();
        if bytes > MOST_LOG_BYTES {
            return Err(DiskLogError::TooLong { path: path.to_owned(), bytes });
        }
        let Some(left) = bytes.checked_sub(HEADER_BYTES as u64) else {
            return Err(wrong("it is shorter than a header".to_owned()));
        };
        let mut input = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut header = [0; HEADER_BYTES];
        input.read_exact(&mut header).map_err(failing)?;
        let header = Header::decode(&header).map_err(wrong)?;
        let path = path.to_owned();
        let under_way = HashMap::new();
        Ok(Self { path, input, header, bytes, entries: 0, left, unread: 0, under_way, last_ns: 0 })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many entries were read.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The next entry; `None` at the end.
    pub fn next_entry(&mut self) -> Result<Option<LogEntry>, DiskLogError> {
        let unread = std::mem::take(&mut self.unread);
        self.input.seek_relative(i64::from(unread)).map_err(|source| self.failing(source))?;
        self.left -= u64::from(unread);
        if self.left == 0 {
            return Ok(None);
        }
        let mut bytes = [0; ENTRY_BYTES];
        self.take(&mut bytes)?;
        let (raw, nanoseconds) = decode(&bytes, self.header.size_bytes).map_err(|why| self.wrong(&why))?;
        if u64::from(raw.data_bytes()) > self.left {
            return Err(self.cut_off());
        }
        if nanoseconds < self.last_ns {
            return Err(self.wrong("it is older than the one before it"));
        }
        self.last_ns = nanoseconds;
        self.unread = raw.data_bytes();
        let event = self.event(raw, nanoseconds)?;
        let index = self.entries;
        self.entries += 1;
        Ok(Some(LogEntry { index, nanoseconds, event }))
    }

    /// Entries before `position`, one after another.
    pub(crate) fn entry_before(&mut self, position: u64) -> Result<Option<LogEntry>, DiskLogError> {
        if self.entries >= position {
            return Ok(None);
        }
        let entry = self.next_entry()?;
        match entry {
            None => Err(DiskLogError::Position { path: self.path.clone(), entries: self.entries, position }),
            entry => Ok(entry),
        }
    }

    /// What the last entry wrote. Replaces the content of `data`; empty if it was taken already, or if there is none.
    pub fn data(&mut self, data: &mut Vec<u8>) -> Result<(), DiskLogError> {
        data.resize(std::mem::take(&mut self.unread) as usize, 0);
        self.take(data)
    }

    /// Where in the log the data of the last entry begins, if it was not read.
    pub(crate) fn data_at(&self) -> u64 {
        self.bytes - self.left
    }

    /// Reads data of any entry, without changing which one is next.
    pub(crate) fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<(), DiskLogError> {
        self.input.get_ref().read_exact_at(bytes, at).map_err(|source| self.failing(source))
    }

    fn event(&mut self, raw: Raw, nanoseconds: u64) -> Result<DiskEvent, DiskLogError> {
        match raw {
            Raw::Write { fua: true, .. } => self.begin(false, nanoseconds)?,
            Raw::FlushBegun => self.begin(true, nanoseconds)?,
            _ => {}
        }
        Ok(match raw {
            Raw::Write { offset, length, fua } => DiskEvent::Write { offset, length, fua },
            Raw::Zero { offset, length } => DiskEvent::Zero { offset, length },
            Raw::FlushBegun => DiskEvent::FlushBegun,
            Raw::Ended { begun } => match self.under_way.remove(&begun) {
                Some((is_flush, began)) => DiskEvent::Ended { begun, is_flush, took_ns: nanoseconds - began },
                None => return Err(self.wrong(&format!("it ends entry {begun}, which is not under way"))),
            },
            Raw::Mark { .. } => {
                let mut text = Vec::new();
                self.data(&mut text)?;
                DiskEvent::Mark(String::from_utf8(text).map_err(|_| self.wrong("its mark is not text"))?)
            }
            Raw::Told(told) => DiskEvent::Told(told),
        })
    }

    fn begin(&mut self, is_flush: bool, nanoseconds: u64) -> Result<(), DiskLogError> {
        if self.under_way.len() == MOST_UNDER_WAY {
            return Err(self.wrong(&format!("more than {MOST_UNDER_WAY} flushes are under way")));
        }
        self.under_way.insert(self.entries, (is_flush, nanoseconds));
        Ok(())
    }

    fn take(&mut self, bytes: &mut [u8]) -> Result<(), DiskLogError> {
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else { return Err(self.cut_off()) };
        self.left = left;
        self.input.read_exact(bytes).map_err(|source| self.failing(source))
    }

    fn failing(&self, source: io::Error) -> DiskLogError {
        DiskLogError::Io { path: self.path.clone(), source }
    }

    fn cut_off(&self) -> DiskLogError {
        DiskLogError::CutOff { path: self.path.clone(), entry: self.entries }
    }

    fn wrong(&self, why: &str) -> DiskLogError {
        DiskLogError::Entry { path: self.path.clone(), entry: self.entries, why: why.to_owned() }
    }
}
