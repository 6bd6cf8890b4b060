//! The connection to the NATS server.

use crate::arrangement::{Arrangement, ArrangementError, Login};
use crate::messages::Addresses;
use crate::tunnel::LONGEST_MESSAGE;
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use bytes::Bytes;
use machines::lookup;
use std::error::Error as _;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A server that is gone without a word is noticed after two of these.
const PING_INTERVAL: Duration = Duration::from_secs(10);
const LONGEST_RECONNECT_DELAY: Duration = Duration::from_secs(1);
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// The client takes a message at once, unless it keeps many for a server that is gone.
const PUBLISH_LIMIT: Duration = Duration::from_millis(50);
const LOOKUP_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error(transparent)]
    Arrangement(#[from] ArrangementError),
    #[error("the server {server} refuses this login: {why}")]
    Login { server: String, why: String },
    #[error("cannot reach the server {server}: {why}; is nats-server running there?")]
    NotReached { server: String, why: String },
    #[error(
        "the TLS connection to the server {server} failed: {why}; check ca, certificate and key in the fleet's file"
    )]
    Tls { server: String, why: String },
    #[error(
        "the NATS server allows messages of {allowed} bytes, and bakeoff sends up to {LONGEST_MESSAGE}; set its max_payload"
    )]
    Payload { allowed: usize },
    #[error("{doing}: {why}")]
    Nats { doing: &'static str, why: String },
    #[error("{0}")]
    Host(String),
    #[error("{doing}: {source}")]
    Io { doing: &'static str, source: std::io::Error },
}

impl FleetError {
    pub(crate) fn nats(doing: &'static str) -> impl FnOnce(async_nats::Error) -> Self {
        move |error| Self::Nats { doing, why: error.to_string() }
    }

    pub(crate) fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// A connection, which comes back by itself.
#[derive(Debug, Clone)]
pub struct Link {
    pub client: Client,
    pub addresses: Addresses,
    is_up: Arc<AtomicBool>,
}

impl Link {
    /// Whether the server is there.
    pub fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    /// Sends a message, which is lost if the server is not there. The client would keep it, and wait once it keeps many.
    pub async fn publish(&self, subject: String, payload: Bytes) {
        if self.is_up() {
            // A server that has gone without a word is there until that is noticed.
            let _ = tokio::time::timeout(PUBLISH_LIMIT, self.client.publish(subject, payload)).await;
        }
    }

    pub async fn connect(to: &Arrangement, as_what: &str) -> Result<Self, FleetError> {
        let is_up = Arc::new(AtomicBool::new(true));
        let noticed = Arc::clone(&is_up);
        let options = with_login(ConnectOptions::new(), to)?
            .name(as_what)
            .connection_timeout(CONNECT_LIMIT)
            .ping_interval(PING_INTERVAL)
            .reconnect_delay_callback(|attempt| {
                let doubled = Duration::from_millis(50) * 2_u32.pow(u32::try_from(attempt.min(5)).unwrap_or(5));
                doubled.min(LONGEST_RECONNECT_DELAY)
            })
            .event_callback(move |event| {
                match event {
                    Event::Connected => noticed.store(true, Ordering::Relaxed),
                    Event::Disconnected => noticed.store(false, Ordering::Relaxed),
                    _ => {}
                }
                std::future::ready(())
            });
        let servers = to.servers();
        // Of a cluster, the servers whose names are known are enough.
        let (mut found, mut unknown) = (Vec::with_capacity(servers.len()), Vec::new());
        for server in &servers {
            match resolved(server) {
                Ok(address) => found.push(address),
                Err(why) => unknown.push(format!("{server}: {why}")),
            }
        }
        let server = servers.join(", ");
        let Some(&(_, address)) = found.first() else {
            return Err(FleetError::NotReached { server, why: unknown.join("; ") });
        };
        let addresses: Vec<ServerAddr> = found.into_iter().map(|(server, _)| server).collect();
        let client = options.connect(addresses).await.map_err(|error| match error.kind() {
            ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                FleetError::Login { server, why: error.to_string() }
            }
            _ if is_of_tls(&error) => FleetError::Tls { server, why: error.to_string() },
            _ => FleetError::NotReached { server, why: error.to_string() },
        })?;
        let allowed = client.server_info().max_payload;
        if allowed < LONGEST_MESSAGE {
            return Err(FleetError::Payload { allowed });
        }
        // The server says at which address it sees us.
        let own = client.server_info().client_ip.parse().unwrap_or(address);
        Ok(Self { client, addresses: Addresses { own, server: address }, is_up })
    }
}

/// What the server says against our certificate comes as data that are not valid.
fn is_of_tls(error: &ConnectError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    error.kind() == ConnectErrorKind::Tls || source.is_some_and(|source| source.kind() == ErrorKind::InvalidData)
}

fn with_login(options: ConnectOptions, to: &Arrangement) -> Result<ConnectOptions, FleetError> {
    let mut options = match to.login()? {
        Login::Nobody => options,
        Login::Token(token) => options.token(token),
        Login::Nkey(seed) => options.nkey(seed),
        Login::Credentials { path, text } => {
            options.credentials(&text).map_err(|error| ArrangementError::Wrong { path, why: error.to_string() })?
        }
    };
    if let Some(file) = to.ca()? {
        options = options.add_root_certificates(file);
    }
    if let Some((certificate, key)) = to.certificate()? {
        options = options.add_client_certificate(certificate, key);
    }
    let wants_tls = to.servers().iter().any(|server| server.starts_with("tls://"));
    Ok(options.require_tls(wants_tls))
}

/// The server, by its address, as the system looks it up. A certificate needs the name: that one NATS looks up itself, which by C's
/// library without its services takes files and DNS, but no directories.
fn resolved(server: &str) -> Result<(ServerAddr, IpAddr), String> {
    let named: ServerAddr = server.parse().map_err(|error: std::io::Error| error.to_string())?;
    let address = if let Ok(address) = named.host().parse() {
        address
    } else {
        let found = lookup::addresses(named.host(), LOOKUP_LIMIT).map_err(|error| error.to_string())?;
        *found.first().ok_or("no host has this name")?
    };
    if named.tls_required() {
        return Ok((named, address));
    }
    let numeric = format!("nats://{}", SocketAddr::new(address, named.port()));
    Ok((numeric.parse().map_err(|error: std::io::Error| error.to_string())?, address))
}
