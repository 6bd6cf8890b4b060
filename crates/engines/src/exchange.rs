//! A request and its answer over a wire, without waiting: the same steps whatever the protocol.

use crate::limit::Limit;
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
    /// What the complete answer says.
    fn outcome(&mut self) -> Result<(), SessionError>;
    /// The connection is gone, for this reason unless the server has said a better one.
    fn lost(&mut self, error: io::Error) -> SessionError;
}

/// Sends what was written, and reads up to the end of its answer.
pub async fn exchange(session: &mut impl Exchange) -> Result<(), SessionError> {
    session.wire().expect_at_most(Limit::STATEMENT_BYTES);
    let mut sent = false;
    std::future::poll_fn(|context| {
        if sent {
            return send_and_read(session, context);
        }
        sent = true;
        // Reading is left to the next poll: there cannot be an answer yet.
        send(session, context)
    })
    .await
}

/// Pending in any case, unless the connection is lost.
fn send(session: &mut impl Exchange, context: &Context<'_>) -> Poll<Result<(), SessionError>> {
    match session.wire().send() {
        Ok(true) => Poll::Pending,
        Ok(false) => poll_again_soon(context),
        Err(error) => Poll::Ready(Err(last_words(session, error))),
    }
}

fn send_and_read(session: &mut impl Exchange, context: &Context<'_>) -> Poll<Result<(), SessionError>> {
    match session.wire().send() {
        Ok(true) => {}
        Ok(false) => return poll_again_soon(context),
        Err(error) => return Poll::Ready(Err(last_words(session, error))),
    }
    loop {
        match session.read_answer() {
            Ok(true) => return Poll::Ready(session.outcome()),
            Ok(false) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
        match session.wire().receive() {
            Ok(true) => {}
            Ok(false) => return Poll::Pending,
            Err(error) => return Poll::Ready(Err(session.lost(error))),
        }
    }
}

/// The request does not fit the socket, and the owner does not wait for readiness to write.
fn poll_again_soon<T>(context: &Context<'_>) -> Poll<T> {
    context.waker().wake_by_ref();
    Poll::Pending
}

/// Sending failed, so the server is gone; what it said before it went is worth more than "broken pipe".
fn last_words(session: &mut impl Exchange, error: io::Error) -> SessionError {
    while let Ok(true) = session.wire().receive() {
        if session.read_answer().is_err() {
            break;
        }
    }
    session.lost(error)
}
