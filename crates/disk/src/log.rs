//! The log while it is written. Every entry is in the file when it counts, so that a killed disk leaves all of them.

use crate::entry::{ENTRY_BYTES, HEADER_BYTES, Header, MOST_BASE_BYTES, Raw, encode};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// How large a log may become unless its owner says otherwise.
pub const DEFAULT_LOG_BYTES: u64 = 2 << 30;

#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    end: u64,
    entries: u64,
    most_bytes: u64,
}

/// Why a disk takes no more writes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FullError {
    #[error("the log has reached its limit of {most_bytes} bytes")]
    Limit { most_bytes: u64 },
    #[error("the log cannot be written: {0}")]
    Io(#[from] io::Error),
    #[error("the backing file cannot be written: {0}")]
    Backing(io::Error),
}

impl Log {
    pub fn create(path: &Path, header: &Header, most_bytes: u64) -> io::Result<Self> {
        let too_long = || io::Error::other(format!("the base is described in more than {MOST_BASE_BYTES} bytes"));
        let header = header.encode().ok_or_else(too_long)?;
        // It has what a database wrote.
        let file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all_at(&header, 0)?;
        Ok(Self { file, end: HEADER_BYTES as u64, entries: 0, most_bytes })
    }

    /// How many entries it has.
    pub fn position(&self) -> u64 {
        self.entries
    }

    /// Appends an entry without data, and returns its index.
    pub fn append(&mut self, raw: Raw) -> Result<u64, FullError> {
        self.append_with_data(raw, &mut [0; ENTRY_BYTES])
    }

    /// Appends an entry with its data, and returns its index. The data has room for the entry before it, so that both are
    /// one write without a copy.
    pub fn append_with_data(&mut self, raw: Raw, room_and_data: &mut [u8]) -> Result<u64, FullError> {
        let length = room_and_data.len() as u64;
        if self.end + length > self.most_bytes {
            return Err(FullError::Limit { most_bytes: self.most_bytes });
        }
        room_and_data[..ENTRY_BYTES].copy_from_slice(&encode(raw, now_ns()));
        // A failed write may leave a part of the entry, and nothing is appended after it: to a reader the tail is cut off.
        self.file.write_all_at(room_and_data, self.end)?;
        self.end += length;
        self.entries += 1;
        Ok(self.entries - 1)
    }

    pub fn append_mark(&mut self, text: &str) -> Result<u64, FullError> {
        let mut bytes = vec![0; ENTRY_BYTES];
        bytes.extend_from_slice(text.as_bytes());
        let length = u32::try_from(text.len()).map_err(io::Error::other)?;
        self.append_with_data(Raw::Mark { length }, &mut bytes)
    }
}

/// The host's monotonic clock, which the load engine reads, too.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Since boot, so neither is negative.
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_its_limit_nothing_more_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let header = Header { size_bytes: 4096, base: String::new() };
        let most_bytes = (HEADER_BYTES + 2 * ENTRY_BYTES) as u64;
        let mut log = Log::create(&path, &header, most_bytes).unwrap();
        assert_eq!(log.append(Raw::FlushBegun).unwrap(), 0);
        let error = log.append_mark("a").unwrap_err().to_string();
        assert_eq!(error, format!("the log has reached its limit of {most_bytes} bytes"));
        assert_eq!(log.append(Raw::Ended { begun: 0 }).unwrap(), 1);
        assert!(log.append(Raw::FlushBegun).is_err());
        assert_eq!((log.position(), path.metadata().unwrap().len()), (2, most_bytes));
        assert!(Log::create(&path, &header, most_bytes).is_err(), "a log is never written over");
    }
}
