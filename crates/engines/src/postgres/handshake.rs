//! Opening a session: who we are, the password if one is asked for, and a blocking question-and-answer for all that
//! happens before or beside measuring.
//!
//! Authentication by trust and by SCRAM-SHA-256; other methods are refused by name.

use super::decode::{Authentication, Message, authentication, refusal};
use super::reply::{Reply, Transaction, session_error, tag, transaction};
use super::wire::Wire;
use crate::remote::Remote;
use crate::secret::Secret;
use crate::session::SessionError;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;
use std::io;
use std::time::{Duration, Instant};

/// A server under load on a slow machine may take a while to fork.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(30);

/// An open session that is ready for a request.
pub fn open(remote: &Remote) -> Result<Wire, SessionError> {
    let Remote { user, database, password, .. } = remote;
    let mut wire = Wire::open(remote)?;
    let who = [
        ("user", user.as_str()),
        ("database", database.as_str()),
        ("application_name", "bakeoff"),
        ("client_encoding", "UTF8"),
    ];
    frontend::startup_message(who, wire.outgoing()).map_err(SessionError::Lost)?;
    let mut scram = Scram { password: password.as_ref().map(Secret::reveal), exchange: None };
    let deadline = Instant::now() + HANDSHAKE_LIMIT;
    wire.send_all(deadline).map_err(SessionError::Lost)?;
    loop {
        if answer_what_came(&mut wire, &mut scram)? {
            return Ok(wire);
        }
        wire.send_all(deadline).map_err(SessionError::Lost)?;
        wire.receive_some(deadline).map_err(SessionError::Lost)?;
    }
}

/// Answers what has arrived; true once the server is ready.
fn answer_what_came(wire: &mut Wire, scram: &mut Scram<'_>) -> Result<bool, SessionError> {
    while let Some(message) = wire.next()? {
        match message.tag {
            tag::ERROR => {
                // Before the session is open every error ends it, so "fatal" says nothing here.
                let refusal = refusal(message.body)?;
                return Err(SessionError::Refused { code: refusal.code, message: refusal.message });
            }
            tag::READY => return Ok(true),
            tag::AUTHENTICATION => {
                if let Some(response) = scram.answer(&authentication(message.body)?)? {
                    response.write(wire)?;
                }
            }
            _ => {}
        }
    }
    Ok(false)
}

/// Our side of SCRAM.
struct Scram<'a> {
    password: Option<&'a str>,
    exchange: Option<ScramSha256>,
}

/// What is sent in return.
enum Response {
    Initial(Vec<u8>),
    Next(Vec<u8>),
}

impl Response {
    fn write(self, wire: &mut Wire) -> Result<(), SessionError> {
        match self {
            Self::Initial(data) => frontend::sasl_initial_response(SCRAM_SHA_256, &data, wire.outgoing()),
            Self::Next(data) => frontend::sasl_response(&data, wire.outgoing()),
        }
        .map_err(SessionError::Lost)
    }
}

impl Scram<'_> {
    fn answer(&mut self, asked: &Authentication<'_>) -> Result<Option<Response>, SessionError> {
        let out_of_step = || SessionError::Protocol("the server is out of step in the password exchange".to_owned());
        let failed = |error: io::Error| SessionError::Protocol(format!("password exchange: {error}"));
        match asked {
            Authentication::Granted => Ok(None),
            Authentication::Scram { mechanisms } => {
                if !mechanisms.split(|byte| *byte == 0).any(|name| name == SCRAM_SHA_256.as_bytes()) {
                    return Err(not_let_in("of SASL's mechanisms only SCRAM-SHA-256 is spoken here".to_owned()));
                }
                let password = self
                    .password
                    .ok_or_else(|| not_let_in("the server asks for a password and there is none".to_owned()))?;
                let exchange = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
                let first = exchange.message().to_vec();
                self.exchange = Some(exchange);
                Ok(Some(Response::Initial(first)))
            }
            Authentication::ScramContinue(data) => {
                let exchange = self.exchange.as_mut().ok_or_else(out_of_step)?;
                exchange.update(data).map_err(failed)?;
                Ok(Some(Response::Next(exchange.message().to_vec())))
            }
            Authentication::ScramFinal(data) => {
                self.exchange.as_mut().ok_or_else(out_of_step)?.finish(data).map_err(failed)?;
                Ok(None)
            }
            Authentication::Other(number) => Err(not_let_in(format!(
                "authentication method {number} is not spoken here; trust and SCRAM-SHA-256 are"
            ))),
        }
    }
}

fn not_let_in(message: String) -> SessionError {
    // PostgreSQL's own code for a login that was not accepted.
    SessionError::Refused { code: "28000".to_owned(), message }
}

/// Sends what was put into the wire and hands each message of the answer to `hear`, until the server is ready again.
pub fn converse(
    wire: &mut Wire,
    limit: Duration,
    hear: &mut dyn FnMut(Message<'_>) -> Result<(), SessionError>,
) -> Result<Transaction, SessionError> {
    let deadline = Instant::now() + limit;
    let mut reply = Reply::default();
    wire.send_all(deadline).map_err(SessionError::Lost)?;
    loop {
        while let Some(message) = wire.next()? {
            match message.tag {
                tag::ERROR => reply.refuse(refusal(message.body)?),
                tag::READY => {
                    let state = transaction(message.body);
                    return reply.outcome().map(|()| state);
                }
                _ => hear(message)?,
            }
        }
        if let Err(error) = wire.receive_some(deadline) {
            return Err(reply.refusal.take().map_or(SessionError::Lost(error), session_error));
        }
    }
}
