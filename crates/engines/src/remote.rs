//! How to reach a database server over a byte stream: address, account, password and TLS.

use crate::secret::Secret;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// A server that listens on TCP or on a Unix socket.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Remote {
    /// A path (Unix socket) if it begins with a slash, otherwise a name or a numeric address.
    pub host: String,
    /// The address of that name. Names are looked up once, where the user gives them, and never by engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    pub port: u16,
    pub user: String,
    pub database: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
    #[serde(default)]
    pub tls: Tls,
    /// Sessions set what the SQL of bakeoff's own workloads relies on. A user's SQL meets the server's defaults for sessions.
    #[serde(default)]
    pub own_sql: bool,
}

impl Remote {
    /// The same server at another, numeric address.
    #[must_use]
    pub fn reached_at(self, address: SocketAddr) -> Self {
        Self { host: address.ip().to_string(), address: None, port: address.port(), ..self }
    }

    /// The same server for the SQL of our own workloads, or for a user's.
    #[must_use]
    pub fn for_sql(self, own_sql: bool) -> Self {
        Self { own_sql, ..self }
    }

    /// As a URL without secrets.
    pub fn shown(&self, scheme: &str) -> String {
        let Self { host, port, user, database, .. } = self;
        if self.is_local_socket() {
            // PostgreSQL's sockets of one folder differ in the port.
            return format!("{scheme}://{user}@/{database} at {host}, port {port}");
        }
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("{scheme}://{user}@{host}:{port}/{database}")
    }

    /// True if a process of this host serves it, as far as the address shows.
    pub fn is_served_here(&self) -> bool {
        let address = self.address.or_else(|| self.host.parse().ok()).map(|address: IpAddr| address.to_canonical());
        self.is_local_socket() || address.is_some_and(|address| address.is_loopback() || address.is_unspecified())
    }

    pub fn port(&self) -> Option<u16> {
        (!self.is_local_socket()).then_some(self.port)
    }

    pub fn is_local_socket(&self) -> bool {
        self.host.starts_with('/')
    }
}

/// Whether and how the connection is encrypted, and which ways to authenticate are allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tls {
    pub mode: TlsMode,
    /// File of certificates to trust; `None` trusts the system's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// Our certificate and key, if the server asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<ClientCertificate>,
    #[serde(default)]
    pub binding: Binding,
    /// The authentication methods that a PostgreSQL server may ask for; `None` allows any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<LoginMethod>>,
    /// Allows sending the password itself to an unverified server. The user must ask for that by name.
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
    /// Encrypts if the server can; nothing is verified.
    Prefer,
    /// Always encrypts; the certificate is verified only if a file of trusted ones is named.
    Require,
    /// The certificate must also come from a trusted authority.
    VerifyCa,
    /// The certificate must also be made out to the host's name.
    VerifyFull,
}

/// Files of our certificate and its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCertificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// How a PostgreSQL server authenticates us. The words are those of libpq's `require_auth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoginMethod {
    /// Without authentication.
    None,
    /// With the password itself.
    Password,
    Md5,
    #[serde(rename = "scram-sha-256")]
    ScramSha256,
}

/// Whether the password exchange is bound to this very TLS connection, so that nobody can stand between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    Disable,
    #[default]
    Prefer,
    Require,
}
