//! The output of a machine, of which the beginning and the end are kept.
//!
//! If we kept everything, a guest that prints without end would fill the host's disk. If a guest had to wait for us to
//! read, it would run slower. So a thread of its own reads the output at once, and sleeps while there is none.

use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_setfl, mknodat};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, PipeWriter, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A boot that goes wrong says why in its first or its last lines.
const HEAD_BYTES: usize = 16 << 10;
const TAIL_BYTES: usize = 16 << 10;
/// How long the last output of an ended program may take to reach us.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The output so far.
#[derive(Debug, Default)]
struct KeptOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
    /// No writer is left.
    ended: bool,
}

/// The output of a program, read until no writer is left.
#[derive(Debug)]
pub struct Printed {
    shared: Arc<(Mutex<KeptOutput>, Condvar)>,
    /// Keeps a named pipe from ending before the program opens it.
    open: Option<File>,
    /// Bytes whose lines `new_lines` has passed on.
    told: u64,
}

impl Printed {
    /// Also returns the end of the pipe that the program writes to.
    pub fn pipe() -> io::Result<(Self, PipeWriter)> {
        let (reader, writer) = io::pipe()?;
        Ok((Self::from(reader, None)?, writer))
    }

    /// Makes a new named pipe, in place of an existing one, for a program that opens its output file by name.
    pub fn named_pipe(path: &Path) -> io::Result<Self> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            // The pipe of a guest that is booted again still exists.
            _ => {}
        }
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // A blocking open would wait for a writer.
        let reader = File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
        let open = File::options().write(true).open(path)?;
        fcntl_setfl(&reader, OFlags::empty())?;
        Self::from(reader, Some(open))
    }

    fn from(mut reader: impl Read + Send + 'static, open: Option<File>) -> io::Result<Self> {
        let shared = Arc::new((Mutex::default(), Condvar::new()));
        let kept = Arc::clone(&shared);
        std::thread::Builder::new().name("printed".to_owned()).spawn(move || {
            let mut piece = [0; 4096];
            loop {
                match reader.read(&mut piece) {
                    Ok(0) => break,
                    Ok(length) => held(&kept).keep(&piece[..length]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            held(&kept).ended = true;
            kept.1.notify_all();
        })?;
        Ok(Self { shared, open, told: 0 })
    }

    /// The output so far.
    pub fn text(&self) -> String {
        held(&self.shared).text()
    }

    /// Passes on the lines that became complete since the last call. Output that is not kept is left out.
    pub fn new_lines(&mut self, tell: &mut dyn FnMut(&str)) {
        let kept = held(&self.shared);
        let new = kept.since(self.told);
        let after_last = || new.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let whole = if kept.ended { new.len() } else { after_last() };
        self.told = kept.printed() - (new.len() - whole) as u64;
        drop(kept);
        String::from_utf8_lossy(&new[..whole]).lines().for_each(|line| tell(line.trim_end()));
    }

    /// The whole output, after the program has ended.
    pub fn to_the_end(&mut self) -> String {
        self.open = None;
        let kept = held(&self.shared);
        // A process that was left running may hold the pipe open, so this must not wait for ever.
        let waited = self.shared.1.wait_timeout_while(kept, LAST_WORDS, |kept| !kept.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.text()
    }
}

type SharedLines = (Mutex<KeptOutput>, Condvar);

fn held(shared: &SharedLines) -> MutexGuard<'_, KeptOutput> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KeptOutput {
    fn keep(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let too_many = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..too_many);
        self.left_out += too_many as u64;
    }

    /// How many bytes were printed so far.
    fn printed(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64 + self.left_out
    }

    /// The output after this many bytes, as far as it is kept.
    fn since(&self, seen: u64) -> Vec<u8> {
        let head = self.head.len() as u64;
        let skipped = if seen <= head { seen } else { seen.saturating_sub(self.left_out).max(head) };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        self.head.iter().chain(&self.tail).skip(skipped).copied().collect()
    }

    /// Cuts at whole lines where something is left out.
    fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[&*self.head, &tail].concat()).trim_end().to_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        let head = head.rsplit_once('\n').map_or(&*head, |(whole, _)| whole);
        let tail = tail.split_once('\n').map_or(&*tail, |(_, whole)| whole);
        let left_out = self.left_out >> 10;
        format!("{head}\n[about {left_out} KiB that were printed here are not kept]\n{}", tail.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::{HEAD_BYTES, KeptOutput, Printed, TAIL_BYTES, held};
    use crate::process::{Launch, Process};
    use std::sync::{Arc, Condvar, Mutex};
    use std::time::Duration;

    const LONG: Duration = Duration::from_mins(1);
    /// Prints 100 MiB, which nobody keeps, between a first and a last line.
    const ENDLESS: &str = "echo first; head -c 104857600 /dev/zero | tr '\\0' '\\n'; echo last";

    fn is_bounded(text: &str) {
        assert!(text.starts_with("first\n") && text.ends_with("\nlast"), "{} bytes", text.len());
        assert!(text.contains("[about 1023") && text.len() <= HEAD_BYTES + TAIL_BYTES + 100, "{} bytes", text.len());
    }

    #[test]
    fn of_a_program_that_prints_without_end_the_beginning_and_the_end_are_kept() {
        let (mut printed, writer) = Printed::pipe().unwrap();
        let mut process = Process::start(Launch::new(&["sh", "-c", ENDLESS]).stdout(writer)).unwrap();
        assert!(process.wait(LONG).unwrap().unwrap().success());
        is_bounded(&printed.to_the_end());
    }

    #[test]
    fn a_named_pipe_is_read_by_whoever_opens_it_and_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("console");
        let mut printed = Printed::named_pipe(&path).unwrap();
        assert_eq!(printed.text(), "");
        let script = format!("exec > console\n{ENDLESS}");
        let mut process = Process::start(Launch::new(&["sh", "-c", &script]).folder(folder.path())).unwrap();
        assert!(process.wait(LONG).unwrap().unwrap().success());
        is_bounded(&printed.to_the_end());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
        // One that nobody opened ends as well.
        assert_eq!(Printed::named_pipe(&path).unwrap().to_the_end(), "");
    }

    #[test]
    fn each_line_is_told_once_and_only_when_it_is_whole() {
        let mut kept = KeptOutput::default();
        kept.keep(b"one\ntwo\nthr");
        let shared = Arc::new((Mutex::new(kept), Condvar::new()));
        let mut printed = Printed { shared: Arc::clone(&shared), open: None, told: 0 };
        let mut lines = || {
            let mut told = Vec::new();
            printed.new_lines(&mut |line| told.push(line.to_owned()));
            told
        };
        assert_eq!(lines(), ["one", "two"]);
        assert!(lines().is_empty());
        held(&shared).keep(b"ee\n");
        held(&shared).keep(&vec![b'x'; HEAD_BYTES]);
        assert_eq!(lines(), ["three"]);
        // More than is kept.
        held(&shared).keep(&b"y\n".repeat(TAIL_BYTES));
        assert!(lines().iter().all(|line| line.len() <= HEAD_BYTES + 1));
        held(&shared).keep(b"last");
        assert!(lines().is_empty());
        held(&shared).ended = true;
        assert_eq!(lines(), ["last"]);
    }

    #[test]
    fn what_is_short_is_kept_as_it_is() {
        let (mut printed, writer) = Printed::pipe().unwrap();
        let mut process = Process::start(Launch::new(&["printf", "one\\ntwo\\n\\n"]).stdout(writer)).unwrap();
        process.wait(LONG).unwrap();
        assert_eq!(printed.to_the_end(), "one\ntwo");
    }
}
