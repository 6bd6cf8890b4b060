//! Proving who we are: SCRAM-SHA-256 with and without channel binding, and the older ways that servers still ask for.
//!
//! With SCRAM the server proves itself, too. A server that lets us in before it has done so is not believed.

use super::decode::Authentication;
use crate::remote::Binding;
use crate::secret::Secret;
use crate::session::SessionError;
use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};
use postgres_protocol::message::frontend;
use std::io;

/// Our side of the exchange.
pub struct Login<'a> {
    pub user: &'a str,
    pub password: Option<&'a Secret>,
    pub binding: Binding,
    /// What the exchange can be bound to, over an encrypted stream.
    pub end_point: Option<Vec<u8>>,
    pub exchange: Exchange,
}

#[derive(Default)]
pub enum Exchange {
    #[default]
    None,
    Running {
        scram: ScramSha256,
        bound: bool,
    },
    /// Both sides know that the other knows the password.
    Proven {
        bound: bool,
    },
}

impl Login<'_> {
    /// Appends the answer to what the server asks for, if there is one.
    pub fn answer(&mut self, asked: &Authentication<'_>, out: &mut BytesMut) -> Result<(), SessionError> {
        match asked {
            Authentication::Granted => self.check_granted(),
            Authentication::Cleartext => send(self.password()?.as_bytes(), out),
            Authentication::Md5 { salt } => {
                send(md5_hash(self.user.as_bytes(), self.password()?.as_bytes(), *salt).as_bytes(), out)
            }
            Authentication::Scram { mechanisms } => self.begin(mechanisms, out),
            Authentication::ScramContinue(data) => {
                let Exchange::Running { scram, .. } = &mut self.exchange else { return Err(out_of_step()) };
                scram.update(data).map_err(|error| failed(&error))?;
                frontend::sasl_response(scram.message(), out).map_err(SessionError::Lost)
            }
            Authentication::ScramFinal(data) => {
                let Exchange::Running { scram, bound } = &mut self.exchange else { return Err(out_of_step()) };
                scram.finish(data).map_err(|error| failed(&error))?;
                self.exchange = Exchange::Proven { bound: *bound };
                Ok(())
            }
            Authentication::Other(number) => Err(not_let_in(format!(
                "the server asks for authentication method {number}; spoken here are trust, password, md5 and \
                 SCRAM-SHA-256"
            ))),
        }
    }

    fn password(&self) -> Result<&str, SessionError> {
        let missing = || not_let_in("the server asks for a password and there is none".to_owned());
        self.password.map(Secret::reveal).ok_or_else(missing)
    }

    fn begin(&mut self, mechanisms: &[u8], out: &mut BytesMut) -> Result<(), SessionError> {
        let offered = |wanted: &str| mechanisms.split(|byte| *byte == 0).any(|name| name == wanted.as_bytes());
        let end_point = self.end_point.take().filter(|_| self.binding != Binding::Disable);
        let can_bind = end_point.is_some();
        let (mechanism, channel) = match end_point {
            Some(end_point) if offered(SCRAM_SHA_256_PLUS) => {
                (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(end_point))
            }
            _ if self.binding == Binding::Require => return Err(not_bound()),
            // Telling the server that we could have: if it offered it and somebody took that away, it notices.
            _ if can_bind => (SCRAM_SHA_256, ChannelBinding::unrequested()),
            _ => (SCRAM_SHA_256, ChannelBinding::unsupported()),
        };
        if !offered(mechanism) {
            return Err(not_let_in("of SASL's mechanisms only SCRAM-SHA-256 is spoken here".to_owned()));
        }
        let scram = ScramSha256::new(self.password()?.as_bytes(), channel);
        frontend::sasl_initial_response(mechanism, scram.message(), out).map_err(SessionError::Lost)?;
        self.exchange = Exchange::Running { scram, bound: mechanism == SCRAM_SHA_256_PLUS };
        Ok(())
    }

    fn check_granted(&self) -> Result<(), SessionError> {
        match self.exchange {
            Exchange::Running { .. } => Err(out_of_step()),
            Exchange::Proven { bound: true } => Ok(()),
            _ if self.binding == Binding::Require => Err(not_bound()),
            Exchange::None | Exchange::Proven { .. } => Ok(()),
        }
    }
}

fn send(password: &[u8], out: &mut BytesMut) -> Result<(), SessionError> {
    // A zero byte would end it early, so it is refused.
    frontend::password_message(password, out)
        .map_err(|error| not_let_in(format!("the password cannot be sent: {error}")))
}

fn out_of_step() -> SessionError {
    SessionError::Protocol("the server is out of step in the password exchange".to_owned())
}

fn failed(error: &io::Error) -> SessionError {
    SessionError::Protocol(format!("password exchange: {error}"))
}

fn not_bound() -> SessionError {
    let why = "channel binding is required, and the server logs us in without it".to_owned();
    SessionError::Insecure { why }
}

fn not_let_in(message: String) -> SessionError {
    // PostgreSQL's own code for a login that was not accepted.
    SessionError::Refused { code: "28000".to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(secret: Option<&Secret>, binding: Binding, end_point: Option<Vec<u8>>) -> Login<'_> {
        Login { user: "md5_user", password: secret, binding, end_point, exchange: Exchange::None }
    }

    fn answer(login: &mut Login<'_>, asked: &Authentication<'_>) -> Result<Vec<u8>, SessionError> {
        let mut out = BytesMut::new();
        login.answer(asked, &mut out).map(|()| out.to_vec())
    }

    const BOTH: &[u8] = b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
    const PLAIN: &[u8] = b"SCRAM-SHA-256\0\0";

    /// Mechanism and the first letters of what follows it.
    fn first(secret: &Secret, binding: Binding, end_point: Option<Vec<u8>>, mechanisms: &[u8]) -> String {
        let mut login = login(Some(secret), binding, end_point);
        match answer(&mut login, &Authentication::Scram { mechanisms }) {
            Ok(sent) => {
                let text = String::from_utf8_lossy(&sent[5..]).into_owned();
                let (mechanism, rest) = text.split_once('\0').unwrap();
                format!("{mechanism} {}", rest[4..].split(",,").next().unwrap())
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn older_methods_have_known_answers() {
        let secret = Secret::new("password");
        let mut login = login(Some(&secret), Binding::Prefer, None);
        // "md5" and the hash of (the hash of password and user, in hexadecimal) and salt, by md5sum(1).
        let asked = Authentication::Md5 { salt: [0x2a, 0x3d, 0x8f, 0xe0] };
        assert_eq!(answer(&mut login, &asked).unwrap(), b"p\0\0\0\x28md562af4dd09bbb41884907a838a3233294\0");
        assert_eq!(answer(&mut login, &Authentication::Cleartext).unwrap(), b"p\0\0\0\x0dpassword\0");
    }

    #[test]
    fn the_best_mechanism_that_both_sides_know_is_taken() {
        let secret = Secret::new("pencil");
        let hash = || Some(vec![7; 32]);
        assert_eq!(first(&secret, Binding::Prefer, hash(), BOTH), "SCRAM-SHA-256-PLUS p=tls-server-end-point");
        assert_eq!(first(&secret, Binding::Disable, hash(), BOTH), "SCRAM-SHA-256 n");
        assert_eq!(first(&secret, Binding::Prefer, hash(), PLAIN), "SCRAM-SHA-256 y");
        assert_eq!(first(&secret, Binding::Prefer, None, PLAIN), "SCRAM-SHA-256 n");
    }

    #[test]
    fn binding_that_is_required_is_not_given_up() {
        let secret = Secret::new("pencil");
        let refused = not_bound().to_string();
        assert_eq!(first(&secret, Binding::Require, Some(vec![7; 32]), PLAIN), refused);
        assert_eq!(first(&secret, Binding::Require, None, BOTH), refused);
        let mut trusted = login(Some(&secret), Binding::Require, Some(vec![7; 32]));
        assert_eq!(answer(&mut trusted, &Authentication::Granted).unwrap_err().to_string(), refused);
    }

    #[test]
    fn a_server_that_has_not_proven_itself_is_not_believed() {
        let secret = Secret::new("pencil");
        let mut login = login(Some(&secret), Binding::Prefer, None);
        answer(&mut login, &Authentication::Scram { mechanisms: PLAIN }).unwrap();
        assert!(matches!(answer(&mut login, &Authentication::Granted), Err(SessionError::Protocol(_))));
    }

    #[test]
    fn without_a_password_there_is_no_answer_and_no_guess() {
        let mut login = login(None, Binding::Prefer, None);
        for asked in [Authentication::Cleartext, Authentication::Scram { mechanisms: PLAIN }] {
            assert!(matches!(answer(&mut login, &asked), Err(SessionError::Refused { .. })));
        }
    }
}
