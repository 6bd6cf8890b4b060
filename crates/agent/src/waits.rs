//! Samples what a server's sessions wait for between the two looks, on a thread and over a session of its own.
//!
//! The session is opened after the first look, so that it takes no place from the sessions that drive the load. It
//! sends one statement at a time. A late answer counts as a missed sample. Any other error ends the sampling with its
//! reason, and the trial goes on.

use engines::catalog::{self, ConnectVisitor};
use engines::server::Endpoint;
use engines::session::{Connect, Session, SessionError};
use engines::statement::StatementId;
use engines::wait::block_on;
use engines::waits::{self, WaitQuestion};
use record::looks::Reading;
use record::waits::{REASON_BYTES, Waits, cut};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Eight samples a second make some hundreds in the shortest usual window, and the server has one answer to make at a
/// time. `InnoDB` shows who waits for a row from a copy, which it renews only if nobody has read it for 100 ms.
const INTERVAL: Duration = Duration::from_millis(125);

/// How long ending waits for the answer to the last sample, or for the attempt to open the session.
const END_LIMIT: Duration = Duration::from_secs(1);

/// The only statement of the session.
const QUESTION: StatementId = StatementId(0);

/// A running sampling; it ends when `end` is called or this is dropped.
pub(crate) struct WaitSampling {
    goes_on: Sender<()>,
    sampled: Receiver<Reading<Waits>>,
}

impl WaitSampling {
    pub fn begin(endpoint: Endpoint) -> Self {
        let (goes_on, until) = channel();
        let (tell, sampled) = channel();
        std::thread::spawn(move || {
            let waits = sample(&endpoint, &until).map_err(|why| cut(&why, REASON_BYTES).to_owned());
            // After a drive that was broken off, nobody receives this.
            let _ = tell.send(waits.into());
        });
        Self { goes_on, sampled }
    }

    pub fn end(self) -> Reading<Waits> {
        drop(self.goes_on);
        self.sampled.recv_timeout(END_LIMIT).unwrap_or_else(|_| {
            let limit_s = END_LIMIT.as_secs();
            Reading::Unavailable(format!("the session that samples did not come to its end within {limit_s} s"))
        })
    }
}

fn sample(endpoint: &Endpoint, until: &Receiver<()>) -> Result<Waits, String> {
    let WaitQuestion { statement, source } = waits::question(endpoint)?;
    let waits = Waits { source: cut(&source, REASON_BYTES).to_owned(), ..Waits::default() };
    catalog::connect(endpoint, vec![statement], Samples { waits, until })
}

struct Samples<'a> {
    waits: Waits,
    until: &'a Receiver<()>,
}

impl ConnectVisitor for Samples<'_> {
    type Answer = Result<Waits, String>;

    fn visit<C: Connect + Sync>(mut self, connect: &C) -> Self::Answer {
        let mut due = Instant::now();
        let refused = |error: SessionError| format!("the session that samples was refused: {error}");
        let mut session = connect.connect().map_err(refused)?;
        let descriptor = session.descriptor().map(|descriptor| descriptor.try_clone_to_owned()).transpose();
        let descriptor = descriptor.map_err(|error| error.to_string())?;
        self.skip_passed(&mut due);
        while self.until.recv_timeout(due.saturating_duration_since(Instant::now())) == Err(RecvTimeoutError::Timeout) {
            let began = Instant::now();
            match ask(&mut session, descriptor.as_ref(), &mut self.waits) {
                Ok(()) => self.waits.samples += 1,
                Err(SessionError::Lost(error)) if error.kind() == io::ErrorKind::TimedOut => self.waits.missed += 1,
                Err(error) => {
                    self.waits.stopped = Some(cut(&error.to_string(), REASON_BYTES).to_owned());
                    break;
                }
            }
            let took = began.elapsed();
            self.waits.took_ns += u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            due += INTERVAL;
            self.skip_passed(&mut due);
        }
        Ok(self.waits)
    }
}

impl Samples<'_> {
    /// Moments that have passed count as missed; they are not made up for by asking more often.
    fn skip_passed(&mut self, due: &mut Instant) {
        while *due + INTERVAL <= Instant::now() {
            *due += INTERVAL;
            self.waits.missed += 1;
        }
    }
}

/// Takes one sample. It is added only if it is complete.
fn ask(session: &mut impl Session, descriptor: Option<&OwnedFd>, waits: &mut Waits) -> Result<(), SessionError> {
    let sample = async {
        let seen = session.execute(QUESTION, &[]).await?;
        let read = |row| Ok((seen.text(row, 0)?, seen.text(row, 1)?, seen.integer(row, 2)?));
        let events = (0..seen.rows()).map(read).collect::<Result<Vec<_>, SessionError>>()?;
        for (class, event, sessions) in events {
            waits.add(class, event, u64::try_from(sessions).unwrap_or_default());
        }
        Ok(())
    };
    block_on(sample, descriptor.map(AsFd::as_fd), INTERVAL)
}
