//! Gives orders to a running disk, with a limit on every wait.

use crate::entry::{DiskOrders, MOST_MARK_BYTES};
use crate::order::{MOST_LINE_BYTES, Order, parse_answer};
use machines::ready::UntilDeadline;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("reaching the disk at {}: {source}", .path.display())]
    Connect { path: PathBuf, source: io::Error },
    #[error("the disk did not take or answer `{order}`: {source}")]
    Io { order: String, source: io::Error },
    #[error("the disk answered `{order}` with `{said}`")]
    Answer { order: String, said: String },
    /// The log is full, for example.
    #[error("the disk refused `{order}`: {why}")]
    Refused { order: String, why: String },
    #[error("a mark is one line of at most {MOST_MARK_BYTES} bytes, and `{text}` is not")]
    Mark { text: String },
    #[error("the disk has not answered an earlier order, so its next answer may be to that one")]
    OutOfStep,
}

/// A connection to a disk. Each thread that needs one makes its own. All methods return how many entries the log has when the
/// disk has obeyed: a cut at that position is just behind it.
#[derive(Debug)]
pub struct DiskControl {
    stream: UnixStream,
    /// Received behind the last answer.
    pending: Vec<u8>,
    limit: Duration,
    is_out_of_step: bool,
}

impl DiskControl {
    /// No answer is waited for longer than `limit`.
    pub fn connect(path: &Path, limit: Duration) -> Result<Self, ControlError> {
        let reached = || -> io::Result<UnixStream> {
            let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
            set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
            connect(&socket, &SocketAddrUnix::new(path)?)?;
            Ok(UnixStream::from(socket))
        };
        let stream = reached().map_err(|source| ControlError::Connect { path: path.to_owned(), source })?;
        Ok(Self { stream, pending: Vec::new(), limit, is_out_of_step: false })
    }

    /// Adds a text to the log.
    pub fn mark(&mut self, text: &str) -> Result<u64, ControlError> {
        if text.contains('\n') || text.len() > MOST_MARK_BYTES as usize {
            return Err(ControlError::Mark { text: text.to_owned() });
        }
        self.tell(&Order::Mark(text.to_owned()))
    }

    pub fn position(&mut self) -> Result<u64, ControlError> {
        self.tell(&Order::Position)
    }

    /// Holds the answers to flushes and to writes with `fua` from now on. While one is held, the kernel sends no further write.
    pub fn stall(&mut self) -> Result<u64, ControlError> {
        self.tell(&Order::Obey(DiskOrders::Stall))
    }

    /// Gives the held answers, and holds no more.
    pub fn go(&mut self) -> Result<u64, ControlError> {
        self.tell(&Order::Obey(DiskOrders::Go))
    }

    /// Takes no further write, discard or flush, and ends none. Nothing but marks and orders is added to the log; reads go on.
    pub fn freeze(&mut self) -> Result<u64, ControlError> {
        self.tell(&Order::Obey(DiskOrders::Freeze))
    }

    pub fn thaw(&mut self) -> Result<u64, ControlError> {
        self.tell(&Order::Obey(DiskOrders::Thaw))
    }

    /// Answers each flush so much later than it would.
    pub fn delay_flushes(&mut self, by: Duration) -> Result<u64, ControlError> {
        self.tell(&Order::Obey(DiskOrders::DelayUs(u64::try_from(by.as_micros()).unwrap_or(u64::MAX))))
    }

    /// From now on flushes and writes with `fua` are answered, but save nothing. An audit that does not notice has no teeth.
    pub fn lie(&mut self) -> Result<u64, ControlError> {
        self.tell(&Order::Obey(DiskOrders::Lie))
    }

    pub fn be_honest(&mut self) -> Result<u64, ControlError> {
        self.tell(&Order::Obey(DiskOrders::Honest))
    }

    /// Ends the disk: it thaws, gives all answers, unmounts and leaves.
    pub fn quit(&mut self) -> Result<u64, ControlError> {
        self.tell(&Order::Quit)
    }

    fn tell(&mut self, order: &Order) -> Result<u64, ControlError> {
        if self.is_out_of_step {
            return Err(ControlError::OutOfStep);
        }
        let order = order.to_string();
        self.is_out_of_step = true;
        let said = self.exchange(&order).map_err(|source| ControlError::Io { order: order.clone(), source })?;
        self.is_out_of_step = false;
        match parse_answer(&said) {
            Some(Ok(position)) => Ok(position),
            Some(Err(why)) => Err(ControlError::Refused { order, why }),
            None => Err(ControlError::Answer { order, said }),
        }
    }

    /// Sends a line and receives one.
    fn exchange(&mut self, order: &str) -> io::Result<String> {
        self.stream.write_all(format!("{order}\n").as_bytes())?;
        let mut answer = UntilDeadline { read: &self.stream, deadline: Instant::now() + self.limit, interrupts: None };
        let gone = || io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended");
        next_line(&mut self.pending, &mut answer)?.ok_or_else(gone)
    }
}

/// Reads one line. What came behind it is kept in `pending` for the next. `None` if the other side has closed.
pub(crate) fn next_line(pending: &mut Vec<u8>, input: &mut impl Read) -> io::Result<Option<String>> {
    loop {
        if let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let rest = pending.split_off(end + 1);
            pending.pop();
            return String::from_utf8(std::mem::replace(pending, rest)).map(Some).map_err(io::Error::other);
        }
        if pending.len() >= MOST_LINE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"));
        }
        let mut bytes = [0; MOST_LINE_BYTES];
        match input.read(&mut bytes) {
            Ok(0) => return Ok(None),
            Ok(count) => pending.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_one_by_one() {
        let (mut pending, mut input) = (Vec::new(), &b"one\ntwo\n\nhalf"[..]);
        let mut next = || next_line(&mut pending, &mut input).unwrap();
        assert_eq!([next(), next(), next()], ["one", "two", ""].map(|line| Some(line.to_owned())));
        assert_eq!(next(), None);
    }

    #[test]
    fn a_line_without_an_end_is_not_collected_for_ever() {
        let error = next_line(&mut Vec::new(), &mut io::repeat(b'x')).unwrap_err();
        assert_eq!(error.to_string(), "a line is too long");
    }

    #[test]
    fn a_disk_that_is_not_there_is_told_with_its_socket() {
        let error = DiskControl::connect(Path::new("/nonexistent/control"), Duration::from_secs(1)).unwrap_err();
        assert!(error.to_string().starts_with("reaching the disk at /nonexistent/control: "), "{error}");
    }

    #[test]
    fn a_disk_that_does_not_answer_is_given_up_and_stays_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        let _silent = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let mut control = DiskControl::connect(&path, Duration::from_millis(20)).unwrap();
        assert!(matches!(control.mark("two\nlines").unwrap_err(), ControlError::Mark { .. }));
        let error = control.position().unwrap_err();
        assert!(
            matches!(&error, ControlError::Io { source, .. } if source.kind() == io::ErrorKind::TimedOut),
            "{error}"
        );
        assert!(matches!(control.go().unwrap_err(), ControlError::OutOfStep));
    }
}
