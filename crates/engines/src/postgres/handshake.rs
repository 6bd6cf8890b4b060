//! Opens a session: encryption, account, and the password if the server asks for one. Also sends requests and waits for
//! their answers, for everything before or beside measuring.

use super::decode::{PostgresMessage, authentication, refusal};
use super::password::{PasswordExchange, ScramLogin};
use super::reply::{PostgresReply, Transaction, copies_unasked, session_error, tag, transaction};
use super::wire::{self, PostgresWire};
use crate::limit::ReplyLimit;
use crate::remote::Remote;
use crate::session::SessionError;
use crate::tls::Encryption;
use postgres_protocol::message::frontend;
use std::time::{Duration, Instant};

/// A server under load on a slow machine may take a while to fork.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(30);

/// Opens a session, ready for a request.
pub fn open(remote: &Remote, encryption: Option<&Encryption>) -> Result<PostgresWire, SessionError> {
    let deadline = Instant::now() + HANDSHAKE_LIMIT;
    let mut wire = wire::open(remote, encryption, deadline)?;
    let who = [
        ("user", remote.user.as_str()),
        ("database", remote.database.as_str()),
        ("application_name", "bakeoff"),
        ("client_encoding", "UTF8"),
        // Dates in texts then have one form, whatever the server's settings.
        ("DateStyle", "ISO"),
    ];
    frontend::startup_message(who, wire.outgoing()).map_err(SessionError::Lost)?;
    let mut login = ScramLogin {
        user: &remote.user,
        password: remote.password.as_ref(),
        rules: &remote.tls,
        trusted: wire.is_trusted(),
        end_point: wire.end_point(),
        exchange: PasswordExchange::None,
    };
    loop {
        if answer_what_came(&mut wire, &mut login)? {
            break;
        }
        wire.receive_some(deadline).map_err(SessionError::Lost)?;
    }
    if remote.own_sql {
        frontend::query(include_str!("sql/own_session.sql"), wire.outgoing()).map_err(SessionError::Lost)?;
        converse(&mut wire, ReplyLimit::QUESTION, &mut |_| Ok(()))?;
    }
    Ok(wire)
}

/// Answers the messages that have arrived; true once the server is ready.
fn answer_what_came(wire: &mut PostgresWire, login: &mut ScramLogin<'_>) -> Result<bool, SessionError> {
    while let Some((message, out)) = wire.next_and_outgoing()? {
        match message.tag {
            tag::ERROR => {
                // Before the session is open every error ends it, so "fatal" carries no information here.
                let refusal = refusal(message.body)?;
                return Err(SessionError::Refused { code: refusal.code, message: refusal.message });
            }
            tag::READY => return Ok(true),
            tag::AUTHENTICATION => login.answer(&authentication(message.body)?, out)?,
            _ => {}
        }
    }
    Ok(false)
}

/// Sends the buffered request and passes each message of the answer to `hear`, until the server is ready again.
pub fn converse(
    wire: &mut PostgresWire,
    limit: ReplyLimit,
    hear: &mut dyn FnMut(PostgresMessage<'_>) -> Result<(), SessionError>,
) -> Result<Transaction, SessionError> {
    let deadline = Instant::now() + limit.time;
    wire.expect_at_most(limit.bytes);
    let mut reply = PostgresReply::default();
    let mut rows = 0;
    loop {
        while let Some(message) = wire.next()? {
            match message.tag {
                tag::ERROR => reply.refuse(refusal(message.body)?),
                tag::READY => {
                    let state = transaction(message.body);
                    return reply.outcome().map(|()| state);
                }
                tag::COPY_BOTH | tag::COPY_IN | tag::COPY_OUT => return Err(copies_unasked().into()),
                tag::DATA_ROW => {
                    rows += 1;
                    limit.check_rows(rows)?;
                    hear(message)?;
                }
                _ => hear(message)?,
            }
        }
        if let Err(error) = wire.receive_some(deadline) {
            return Err(reply.refusal.take().map_or_else(|| SessionError::Lost(limit.explained(error)), session_error));
        }
    }
}
