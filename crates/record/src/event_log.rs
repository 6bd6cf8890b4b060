//! The append-only log of a run's events.

use crate::bounds::{self, Lines};
use crate::error::{RecordError, content, failing};
use crate::event::{Event, StampedEvent};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// `events.jsonl`: one event a line, only ever appended to.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    file: File,
}

impl EventLog {
    pub(crate) fn open(path: &Path) -> Result<Self, RecordError> {
        let mut file =
            OpenOptions::new().create(true).read(true).append(true).open(path).map_err(failing("opening", path))?;
        end_torn_line(&mut file).map_err(failing("mending", path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    pub fn append(&mut self, at_ms: u64, event: &Event) -> Result<(), RecordError> {
        let stamped = StampedEvent { at_ms, event: event.clone() };
        let mut line =
            serde_json::to_vec(&stamped).map_err(|source| RecordError::Format { path: self.path.clone(), source })?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(failing("appending to", &self.path))
    }
}

/// A kill may have cut the last line short; a new event must not be appended to that line.
fn end_torn_line(file: &mut File) -> io::Result<()> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0_u8];
    file.read_exact(&mut last)?;
    if last[0] == b'\n' { Ok(()) } else { file.write_all(b"\n") }
}

/// Reads the events of a run; lines cut short by a kill are left out.
pub fn read_events(path: &Path) -> Result<Vec<StampedEvent>, RecordError> {
    let mut lines = Lines::of(bounds::open(path, bounds::SERIES_BYTES).map_err(failing("opening", path))?);
    let mut events = Vec::new();
    while let Some(line) = lines.next_line().map_err(|why| content(path, why))? {
        if let Ok(event) = serde_json::from_str(line) {
            events.push(event);
        }
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_event_is_left_out_and_the_next_one_is_whole() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("events.jsonl");
        let event = |text: &str| Event::Warning { text: text.to_owned() };
        EventLog::open(&path).unwrap().append(1, &event("first")).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"at_ms\":2,\"ev").unwrap();
        EventLog::open(&path).unwrap().append(3, &event("third")).unwrap();
        let events = read_events(&path).unwrap();
        assert_eq!(events.iter().map(|stamped| stamped.at_ms).collect::<Vec<_>>(), [1, 3]);
    }
}
