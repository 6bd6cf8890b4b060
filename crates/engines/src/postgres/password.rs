//! Proves who we are: by SCRAM-SHA-256 with and without channel binding, and by older methods that servers still ask for.
//!
//! With SCRAM the server must prove itself too, before it accepts us. The password itself and SCRAM proofs of few iterations
//! go only to a verified server, unless the user allows more. An MD5 hash goes to any server whose method is allowed.

use super::decode::Authentication;
use crate::remote::{Binding, LoginMethod, Tls};
use crate::secret::Secret;
use crate::session::SessionError;
use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};
use postgres_protocol::message::frontend;
use std::io;

/// The minimum of RFC 7677. The server chooses the number of iterations. With fewer of them, a password is guessed
/// sooner from an overheard proof.
const FEWEST_ITERATIONS: u32 = 4096;

/// Our side of the exchange.
pub struct ScramLogin<'a> {
    pub user: &'a str,
    pub password: Option<&'a Secret>,
    pub rules: &'a Tls,
    /// The connection is private, and the server is verified.
    pub trusted: bool,
    /// The value that the exchange can be bound to, over an encrypted stream.
    pub end_point: Option<Vec<u8>>,
    pub exchange: PasswordExchange,
}

#[derive(Default)]
pub enum PasswordExchange {
    #[default]
    None,
    /// The password or its hash was sent.
    Told,
    Running {
        scram: ScramSha256,
        bound: bool,
    },
    /// Each side has proved to the other that it knows the password.
    Proven {
        bound: bool,
    },
}

impl<'a> ScramLogin<'a> {
    /// Appends the answer to the server's request, if one is needed.
    pub fn answer(&mut self, asked: &Authentication<'_>, out: &mut BytesMut) -> Result<(), SessionError> {
        match asked {
            Authentication::Granted => self.check_granted(),
            Authentication::Cleartext => {
                self.check_method(LoginMethod::Password)?;
                self.check_trusted("the password itself")?;
                self.tell(self.password()?.as_bytes(), out)
            }
            Authentication::Md5 { salt } => {
                self.check_method(LoginMethod::Md5)?;
                let hash = md5_hash(self.user.as_bytes(), self.password()?.as_bytes(), *salt);
                self.tell(hash.as_bytes(), out)
            }
            Authentication::Scram { mechanisms } => {
                self.check_method(LoginMethod::ScramSha256)?;
                self.begin(mechanisms, out)
            }
            Authentication::ScramContinue(data) => {
                if iterations(data).is_some_and(|iterations| iterations < FEWEST_ITERATIONS) {
                    self.check_trusted(&format!("a proof of fewer than {FEWEST_ITERATIONS} iterations"))?;
                }
                let PasswordExchange::Running { scram, .. } = &mut self.exchange else { return Err(out_of_step()) };
                scram.update(data).map_err(|error| failed(&error))?;
                frontend::sasl_response(scram.message(), out).map_err(SessionError::Lost)
            }
            Authentication::ScramFinal(data) => {
                let PasswordExchange::Running { scram, bound } = &mut self.exchange else { return Err(out_of_step()) };
                scram.finish(data).map_err(|error| failed(&error))?;
                self.exchange = PasswordExchange::Proven { bound: *bound };
                Ok(())
            }
            Authentication::Other(number) => Err(not_let_in(format!(
                "the server asks for authentication method {number}; spoken here are trust, password, md5 and \
                 SCRAM-SHA-256"
            ))),
        }
    }

    fn password(&self) -> Result<&'a str, SessionError> {
        let missing = || not_let_in("the server asks for a password and there is none".to_owned());
        self.password.map(Secret::reveal).ok_or_else(missing)
    }

    fn tell(&mut self, password: &[u8], out: &mut BytesMut) -> Result<(), SessionError> {
        self.exchange = PasswordExchange::Told;
        // A zero byte would end the message early, so such a password is refused.
        frontend::password_message(password, out)
            .map_err(|error| not_let_in(format!("the password cannot be sent: {error}")))
    }

    /// Fails if the server may be a false one, which could misuse `what`.
    fn check_trusted(&self, what: &str) -> Result<(), SessionError> {
        if self.trusted || self.rules.clear_password {
            return Ok(());
        }
        let why = format!(
            "the server asks for {what}, and is not verified; use sslmode=verify-full with sslrootcert=FILE, or a Unix \
             socket, or allow it by require_auth=password"
        );
        Err(SessionError::Insecure { why })
    }

    fn check_method(&self, method: LoginMethod) -> Result<(), SessionError> {
        match &self.rules.methods {
            Some(allowed) if !allowed.contains(&method) => {
                let asks = match method {
                    LoginMethod::None => "lets us in without asking for proof",
                    LoginMethod::Password => "asks for the password itself",
                    LoginMethod::Md5 => "asks for an MD5 hash of the password",
                    LoginMethod::ScramSha256 => "asks for SCRAM-SHA-256",
                };
                Err(SessionError::Insecure { why: format!("the server {asks}, which require_auth does not allow") })
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, mechanisms: &[u8], out: &mut BytesMut) -> Result<(), SessionError> {
        let offered = |wanted: &str| mechanisms.split(|byte| *byte == 0).any(|name| name == wanted.as_bytes());
        let end_point = self.end_point.take().filter(|_| self.rules.binding != Binding::Disable);
        let can_bind = end_point.is_some();
        let (mechanism, channel) = match end_point {
            Some(end_point) if offered(SCRAM_SHA_256_PLUS) => {
                (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(end_point))
            }
            _ if self.rules.binding == Binding::Require => return Err(not_bound()),
            // This shows the server that we could bind. If somebody in between removed the server's offer to bind, the
            // server notices.
            _ if can_bind => (SCRAM_SHA_256, ChannelBinding::unrequested()),
            _ => (SCRAM_SHA_256, ChannelBinding::unsupported()),
        };
        if !offered(mechanism) {
            return Err(not_let_in("of SASL's mechanisms only SCRAM-SHA-256 is spoken here".to_owned()));
        }
        let scram = ScramSha256::new(self.password()?.as_bytes(), channel);
        frontend::sasl_initial_response(mechanism, scram.message(), out).map_err(SessionError::Lost)?;
        self.exchange = PasswordExchange::Running { scram, bound: mechanism == SCRAM_SHA_256_PLUS };
        Ok(())
    }

    fn check_granted(&self) -> Result<(), SessionError> {
        match self.exchange {
            PasswordExchange::Running { .. } => Err(out_of_step()),
            PasswordExchange::Proven { bound: true } => Ok(()),
            _ if self.rules.binding == Binding::Require => Err(not_bound()),
            PasswordExchange::None => self.check_method(LoginMethod::None),
            PasswordExchange::Told | PasswordExchange::Proven { .. } => Ok(()),
        }
    }
}

/// The number of iterations that the server asks for in its first message.
fn iterations(first: &[u8]) -> Option<u32> {
    let field = first.split(|byte| *byte == b',').find_map(|field| field.strip_prefix(b"i="))?;
    std::str::from_utf8(field).ok()?.parse().ok()
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
    // PostgreSQL's own code for a refused login.
    SessionError::Refused { code: "28000".to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(binding: Binding) -> Tls {
        Tls { binding, ..Tls::default() }
    }

    fn login<'a>(secret: Option<&'a Secret>, rules: &'a Tls, end_point: Option<Vec<u8>>) -> ScramLogin<'a> {
        ScramLogin {
            user: "md5_user",
            password: secret,
            rules,
            trusted: false,
            end_point,
            exchange: PasswordExchange::None,
        }
    }

    fn answer(login: &mut ScramLogin<'_>, asked: &Authentication<'_>) -> Result<Vec<u8>, SessionError> {
        let mut out = BytesMut::new();
        login.answer(asked, &mut out).map(|()| out.to_vec())
    }

    const BOTH: &[u8] = b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
    const PLAIN: &[u8] = b"SCRAM-SHA-256\0\0";

    /// The mechanism, and the first letters of the text after it.
    fn first(secret: &Secret, binding: Binding, end_point: Option<Vec<u8>>, mechanisms: &[u8]) -> String {
        let rules = rules(binding);
        let mut login = login(Some(secret), &rules, end_point);
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
        let rules = Tls::default();
        let mut login = ScramLogin { trusted: true, ..login(Some(&secret), &rules, None) };
        // "md5" and the hash of (the hash of password and user, in hexadecimal) and salt, computed with md5sum(1).
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
        let rules = rules(Binding::Require);
        let mut unasked = login(Some(&secret), &rules, Some(vec![7; 32]));
        assert_eq!(answer(&mut unasked, &Authentication::Granted).unwrap_err().to_string(), refused);
    }

    #[test]
    fn a_server_that_has_not_proven_itself_is_not_believed() {
        let secret = Secret::new("pencil");
        let rules = Tls::default();
        let mut login = login(Some(&secret), &rules, None);
        answer(&mut login, &Authentication::Scram { mechanisms: PLAIN }).unwrap();
        assert!(matches!(answer(&mut login, &Authentication::Granted), Err(SessionError::Protocol(_))));
    }

    #[test]
    fn what_is_asked_for_by_name_is_told_and_what_is_not_named_is_refused() {
        let secret = Secret::new("pencil");
        let by_name = Tls { methods: Some(vec![LoginMethod::Password]), clear_password: true, ..Tls::default() };
        let mut named = login(Some(&secret), &by_name, None);
        assert_eq!(answer(&mut named, &Authentication::Cleartext).unwrap(), b"p\0\0\0\x0bpencil\0");
        answer(&mut named, &Authentication::Granted).unwrap();
        for asked in
            [Authentication::Granted, Authentication::Md5 { salt: [0; 4] }, Authentication::Scram { mechanisms: PLAIN }]
        {
            let error = answer(&mut login(Some(&secret), &by_name, None), &asked).unwrap_err().to_string();
            assert!(error.contains("require_auth does not allow"), "{error}");
        }
    }

    #[test]
    fn few_iterations_are_enough_for_a_trusted_server_only() {
        let secret = Secret::new("pencil");
        let rules = Tls::default();
        for (count, trusted, fine) in [(4096, false, true), (4095, false, false), (0, false, false), (1, true, true)] {
            let mut login = ScramLogin { trusted, ..login(Some(&secret), &rules, None) };
            let sent = answer(&mut login, &Authentication::Scram { mechanisms: PLAIN }).unwrap();
            // The nonce is random and may hold any letter but a comma.
            let nonce = String::from_utf8_lossy(&sent).split_once(",r=").unwrap().1.to_owned();
            let first = format!("r={nonce}more,s=c2FsdA==,i={count}");
            let proof = answer(&mut login, &Authentication::ScramContinue(first.as_bytes()));
            assert_eq!(proof.is_ok(), fine, "{count} {trusted}: {proof:?}");
        }
    }

    #[test]
    fn without_a_password_there_is_no_answer_and_no_guess() {
        let rules = Tls::default();
        let mut login = ScramLogin { trusted: true, ..login(None, &rules, None) };
        for asked in [Authentication::Cleartext, Authentication::Scram { mechanisms: PLAIN }] {
            assert!(matches!(answer(&mut login, &asked), Err(SessionError::Refused { .. })));
        }
    }
}
