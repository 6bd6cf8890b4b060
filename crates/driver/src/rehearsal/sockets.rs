//! The real clock, threads and epoll, over sockets to a peer that answers, including requests larger than a socket's buffer.

use super::workload::RehearsedWorkload;
use crate::drive;
use crate::plan::{Control, DrivePlan, Pacing};
use engines::session::{Access, Connect, Param, ResultSet, Session, SessionError, SessionWork};
use engines::statement::{Dialect, StatementId};
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::task::{Context, Poll};
use std::thread;

/// Opens sessions whose requests have this many bytes; a peer answers each request with one byte.
struct Peers {
    request_bytes: usize,
}

struct PeerSession {
    stream: UnixStream,
    request: Vec<u8>,
    results: ResultSet,
    work: SessionWork,
}

impl Connect for Peers {
    type Session = PeerSession;

    fn connect(&self) -> Result<PeerSession, SessionError> {
        let (stream, peer) = UnixStream::pair().map_err(SessionError::Lost)?;
        stream.set_nonblocking(true).map_err(SessionError::Lost)?;
        let request_bytes = self.request_bytes;
        // The thread ends when the session is dropped.
        thread::spawn(move || answer(peer, request_bytes));
        let request = vec![b'?'; request_bytes];
        Ok(PeerSession { stream, request, results: ResultSet::default(), work: SessionWork::default() })
    }
}

fn answer(mut peer: UnixStream, request_bytes: usize) {
    let mut request = vec![0; request_bytes];
    while peer.read_exact(&mut request).is_ok() && peer.write_all(b"!").is_ok() {}
}

impl PeerSession {
    fn send(&mut self, sent: &mut usize, context: &Context<'_>) -> Result<bool, SessionError> {
        while *sent < self.request.len() {
            match self.stream.write(&self.request[*sent..]) {
                Ok(count) => *sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    context.waker().wake_by_ref();
                    return Ok(false);
                }
                Err(error) => return Err(SessionError::Lost(error)),
            }
        }
        Ok(true)
    }

    fn receive(&mut self) -> Poll<Result<(), SessionError>> {
        match self.stream.read(&mut [0]) {
            Ok(1) => Poll::Ready(Ok(())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            Ok(_) => Poll::Ready(Err(SessionError::Lost(io::ErrorKind::UnexpectedEof.into()))),
            Err(error) => Poll::Ready(Err(SessionError::Lost(error))),
        }
    }
}

impl Session for PeerSession {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.stream.as_fd())
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn begin(&mut self, _access: Access) -> Result<(), SessionError> {
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    async fn execute(&mut self, _: StatementId, _: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        let (mut sent, mut first) = (0, true);
        poll_fn(|context| {
            let all = self.send(&mut sent, context);
            let first = std::mem::replace(&mut first, false);
            match all {
                Ok(true) if !first => self.receive(),
                Ok(_) => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            }
        })
        .await?;
        self.work.statements += 1;
        Ok(&self.results)
    }

    async fn execute_text(&mut self, _: &'static str, _: &str) -> Result<&ResultSet, SessionError> {
        self.execute(StatementId(u16::MAX), &[]).await
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}

fn committed_with(request_bytes: usize) -> u64 {
    let (workload, stop) = (RehearsedWorkload::deferring(5), Control::default());
    let pacing = Pacing::Clients { clients: 3 };
    let plan = DrivePlan { shards: 2, ..DrivePlan::timed(pacing, 0, 1_000, 1) };
    let driven = drive(&workload, &Peers { request_bytes }, &plan, &stop, &mut |_| ()).unwrap();
    let facts = &driven.facts;
    assert_eq!((facts.sessions, facts.unended.transactions, facts.losses.lost), (5, 0, 0));
    let deferred = facts.deferred.unwrap();
    assert_eq!(deferred.queued, deferred.done);
    assert_eq!(facts.work.statements, facts.kinds.iter().map(record::trial::KindTotals::finished).sum::<u64>());
    facts.kinds[0].committed
}

#[test]
fn answers_wake_their_sessions() {
    assert!(committed_with(10) > 0);
}

#[test]
fn a_request_larger_than_the_socket_is_sent_to_its_end() {
    assert!(committed_with(4 << 20) > 0);
}
