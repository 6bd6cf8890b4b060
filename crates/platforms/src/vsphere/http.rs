//! Posts a text to the server and returns its answer, over TLS.
//!
//! `ureq` speaks HTTP. Its TLS knows no fingerprints, so the encryption around the connection is ours, with the project's own trust.

use machines::lookup;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::fmt;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use trust::{Demand, Insecure, Trust};
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, TcpConnector, Transport, TransportAdapter,
};

/// A name that is not found within this time will not be found.
const LOOKUP_LIMIT: Duration = Duration::from_secs(10);
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
/// A server at work answers within this; what takes longer is a task.
const ANSWER_LIMIT: Duration = Duration::from_mins(2);
/// More than the properties of a large inventory.
const LONGEST_ANSWER: u64 = 64 << 20;
/// The lowest version of the API that we know.
const ACTION: &str = "urn:vim25/6.5";
const HTTPS_PORT: u16 = 443;
const REMEDY: &str = "platform.fingerprint accepts this one by its SHA-256";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error(transparent)]
    Insecure(#[from] Insecure),
    #[error("{0}")]
    NotReached(String),
    #[error("it answers HTTP {0}; is a vCenter server there?")]
    Status(u16),
    #[error("it did not answer within {} s", .0.as_secs())]
    TooSlow(Duration),
}

pub struct Http {
    agent: ureq::Agent,
    url: String,
}

/// An answer, and the cookie that it asks us to keep.
pub struct Posted {
    pub text: String,
    pub cookie: Option<String>,
}

impl Http {
    pub fn to(url: &str, demand: Demand<'_>) -> Result<Self, HttpError> {
        let provider = Arc::new(ring::default_provider());
        let trust = Trust::of(demand, &provider)?;
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Insecure(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trust))
            .with_no_client_auth();
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(CONNECT_LIMIT))
            .timeout_global(Some(ANSWER_LIMIT))
            .user_agent("bakeoff")
            .build();
        let connector = ().chain(TcpConnector::default()).chain(Encrypting(Arc::new(tls)));
        Ok(Self { agent: ureq::Agent::with_parts(config, connector, ByGetent), url: url.to_owned() })
    }

    pub fn post(&self, body: &str, cookie: Option<&str>) -> Result<Posted, HttpError> {
        let mut request =
            self.agent.post(&self.url).header("Content-Type", "text/xml; charset=utf-8").header("SOAPAction", ACTION);
        if let Some(cookie) = cookie {
            request = request.header("Cookie", cookie);
        }
        let mut response = request.send(body).map_err(told)?;
        let status = response.status().as_u16();
        let cookies = response.headers().get_all("set-cookie");
        let cookie = cookies.iter().filter_map(|cookie| cookie.to_str().ok()).find_map(session);
        // The server reports a fault with status 500.
        if status != 200 && status != 500 {
            return Err(HttpError::Status(status));
        }
        let text = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_string().map_err(told)?;
        Ok(Posted { text, cookie })
    }
}

/// Name and value of a session's cookie.
fn session(cookie: &str) -> Option<String> {
    let pair = cookie.split(';').next()?.trim();
    pair.starts_with("vmware_soap_session=").then(|| pair.to_owned())
}

fn told(error: ureq::Error) -> HttpError {
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            HttpError::NotReached(format!("it does not accept a connection within {} s", CONNECT_LIMIT.as_secs()))
        }
        ureq::Error::Timeout(_) => HttpError::TooSlow(ANSWER_LIMIT),
        ureq::Error::Io(error) => HttpError::NotReached(error.to_string()),
        ureq::Error::HostNotFound => HttpError::NotReached("its name is not known here".to_owned()),
        ureq::Error::ConnectionFailed => HttpError::NotReached("it does not accept a connection".to_owned()),
        ureq::Error::BodyExceedsLimit(limit) => {
            HttpError::NotReached(format!("its answer is longer than {} MiB", limit >> 20))
        }
        ureq::Error::Other(cause) => match cause.downcast::<Insecure>() {
            Ok(insecure) => HttpError::Insecure(*insecure),
            Err(other) => HttpError::NotReached(other.to_string()),
        },
        other => HttpError::NotReached(other.to_string()),
    }
}

/// Looks names up by the system's rules: the C library's way cannot be linked statically.
#[derive(Debug)]
struct ByGetent;

impl Resolver for ByGetent {
    fn resolve(&self, uri: &Uri, _: &ureq::config::Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(HTTPS_PORT);
        let addresses = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => lookup::addresses(host, LOOKUP_LIMIT).map_err(|error| ureq::Error::Other(Box::new(error)))?,
        };
        let mut found = self.empty();
        // It takes no more than this many.
        for address in addresses.into_iter().take(8) {
            found.push(SocketAddr::new(address, port));
        }
        if found.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(found) }
    }
}

/// Encrypts each connection.
#[derive(Debug)]
struct Encrypting(Arc<ClientConfig>);

impl<Below: Transport> Connector<Below> for Encrypting {
    type Out = Encrypted;

    fn connect(&self, details: &ConnectionDetails<'_>, below: Option<Below>) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(below) = below else { return Ok(None) };
        let insecure = |why: String| ureq::Error::Other(Box::new(Insecure(why)));
        let host = details.uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host.clone())
            .map_err(|_| insecure(format!("no certificate can be made out to a host named {host:?}")))?;
        let mut connection = ClientConnection::new(Arc::clone(&self.0), name)
            .map_err(|error| insecure(trust::told(&host, &error, REMEDY)))?;
        let mut socket = TransportAdapter::new(below.boxed(), details.current_time.clone());
        socket.set_timeout(details.timeout);
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).map_err(|error| {
                match error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>()) {
                    Some(cause) => insecure(trust::told(&host, cause, REMEDY)),
                    None => ureq::Error::Io(error),
                }
            })?;
        }
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Encrypted { buffers, stream: StreamOwned::new(connection, socket) }))
    }
}

struct Encrypted {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Encrypted")
    }
}

impl Transport for Encrypted {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        self.stream.write_all(&self.buffers.output()[..amount])?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let amount = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}
