//! A request and its answer over a wire, without blocking; the same steps for every protocol.

use crate::limit::ReplyLimit;
use crate::session::SessionError;
use crate::wire::{Framing, Wire};
use std::io;
use std::task::{Context, Poll};

/// A session that has written a request and awaits its answer.
pub trait Exchange {
    type Framing: Framing;

    fn wire(&mut self) -> &mut Wire<Self::Framing>;
    /// Reads what has arrived; true if the awaited answer is complete.
    fn read_answer(&mut self) -> Result<bool, SessionError>;
    /// The result that the complete answer reports.
    fn outcome(&mut self) -> Result<(), SessionError>;
    /// The error for a lost connection: `error`, unless the server has given a better reason.
    fn lost(&mut self, error: io::Error) -> SessionError;
}

/// Sends the written request and reads its whole answer.
pub async fn exchange(session: &mut impl Exchange) -> Result<(), SessionError> {
    session.wire().expect_at_most(ReplyLimit::STATEMENT_BYTES);
    let mut sent = false;
    std::future::poll_fn(|context| {
        if sent {
            return send_and_read(session, context);
        }
        sent = true;
        // Reading is left to the next poll, because there cannot be an answer yet.
        send(session, context)
    })
    .await
}

/// Returns `Pending`, unless the connection is lost.
fn send(session: &mut impl Exchange, context: &Context<'_>) -> Poll<Result<(), SessionError>> {
    match session.wire().send() {
        Ok(true) => Poll::Pending,
        Ok(false) => poll_again_soon(context),
        Err(error) => Poll::Ready(Err(last_words(session, error))),
    }
}

fn send_and_read(session: &mut impl Exchange, context: &Context<'_>) -> Poll<Result<(), SessionError>> {
    let is_sent = match session.wire().send() {
        Ok(is_sent) => is_sent,
        Err(error) => return Poll::Ready(Err(last_words(session, error))),
    };
    loop {
        match session.read_answer() {
            Ok(true) => return Poll::Ready(session.outcome()),
            Ok(false) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
        match session.wire().receive() {
            Ok(true) => {}
            Ok(false) if is_sent => return Poll::Pending,
            // The server answers the first requests of a batch before it takes the last ones.
            Ok(false) => return poll_again_soon(context),
            Err(error) => return Poll::Ready(Err(session.lost(error))),
        }
    }
}

/// For a request that does not fit the socket: the owner does not wait until it can write.
fn poll_again_soon<T>(context: &Context<'_>) -> Poll<T> {
    context.waker().wake_by_ref();
    Poll::Pending
}

/// Sending failed, so the server is gone. Its last message says more than "broken pipe".
fn last_words(session: &mut impl Exchange, error: io::Error) -> SessionError {
    while let Ok(true) = session.wire().receive() {
        if session.read_answer().is_err() {
            break;
        }
    }
    session.lost(error)
}
