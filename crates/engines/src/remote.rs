//! How to reach a database server over a byte stream: address, account, password and TLS.

use crate::secret::Secret;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// A server that listens on TCP or on a Unix socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// A path (Unix socket) if it begins with a slash, else a name or a numeric address.
    pub host: String,
    /// The address that the name stands for. Names are looked up once, where they come from the user, and never by
    /// engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    pub port: u16,
    pub user: String,
    pub database: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
    #[serde(default)]
    pub tls: Tls,
}

impl Remote {
    /// The same server under a numeric address.
    #[must_use]
    pub fn reached_at(self, address: SocketAddr) -> Self {
        Self { host: address.ip().to_string(), address: None, port: address.port(), ..self }
    }

    /// As a URL without what is secret.
    pub fn shown(&self, scheme: &str) -> String {
        let Self { host, port, user, database, .. } = self;
        if self.is_local_socket() {
            return format!("{scheme}://{user}@/{database} at {host}");
        }
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("{scheme}://{user}@{host}:{port}/{database}")
    }

    pub fn is_local_socket(&self) -> bool {
        self.host.starts_with('/')
    }
}

/// Whether and how the connection is encrypted, and what the server may ask for over it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tls {
    pub mode: TlsMode,
    /// Certificates to trust; the system's own where none are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// What we show the server if it asks who we are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    #[serde(default)]
    pub binding: Binding,
    /// The ways in which a PostgreSQL server may let us in; any where none are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<Method>>,
    /// The password itself may be told to a server that nobody vouches for: the user asked for that by name.
    #[serde(default)]
    pub clear_password: bool,
}

impl Tls {
    pub fn of_mode(mode: TlsMode) -> Self {
        Self { mode, ..Self::default() }
    }
}

/// The words and their meaning are those of libpq's `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    #[default]
    Disable,
    /// If the server can; nothing is verified.
    Prefer,
    /// Encrypted or not at all; the certificate is verified only if a file of trusted ones is named.
    Require,
    /// The certificate must come from somebody trusted.
    VerifyCa,
    /// And it must be made out to the host's name.
    VerifyFull,
}

/// Files of our certificate and its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// How PostgreSQL lets somebody in. The words are those of libpq's `require_auth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Without asking.
    None,
    /// By the password itself.
    Password,
    Md5,
    #[serde(rename = "scram-sha-256")]
    ScramSha256,
}

/// Whether the password exchange is tied to this very TLS connection, so that nobody can stand between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    Disable,
    #[default]
    Prefer,
    Require,
}
