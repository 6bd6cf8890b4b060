//! From a URL to an endpoint: what the environment and the user's files add to it, and which address its host's name has.

use crate::display::say;
use crate::exit::EndedWith;
use crate::host;
use anyhow::{Context, Result};
use engines::address::{Environment, FileText};
use engines::remote::Remote;
use engines::server::Endpoint;
use engines::session::SessionError;
use machines::lookup;
use machines::process::ProcessError;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A name that is not found within this time will not be found.
const LOOKUP_LIMIT: Duration = Duration::from_secs(10);
/// With several addresses, how long each may take to accept a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// The endpoint that the URL means, with every name looked up. Prints which parts were not used.
pub fn found(url: &str) -> Result<Endpoint> {
    let around = Environment {
        variable: &|name| std::env::var(name).ok(),
        file: &read_with_mode,
        home: std::env::var_os("HOME").map(PathBuf::from),
        account: account(),
        memory_bytes: host::memory_bytes(),
    };
    let address = engines::address::parse(url, &around).map_err(|error| EndedWith::bad_input(error.to_string()))?;
    for warning in &address.warnings {
        say(&format!("warning: {warning}"));
    }
    match address.endpoint {
        Endpoint::Postgres(remote) => Ok(Endpoint::Postgres(looked_up(remote)?)),
        Endpoint::Mysql(remote) => Ok(Endpoint::Mysql(looked_up(remote)?)),
        file @ Endpoint::Sqlite { .. } => Ok(file),
    }
}

fn read_with_mode(path: &Path) -> io::Result<FileText> {
    const PERMISSIONS: u32 = 0o777;
    let mode = std::fs::metadata(path)?.permissions().mode() & PERMISSIONS;
    Ok(FileText { text: std::fs::read_to_string(path)?, mode })
}

/// The user's name, from the file of accounts, since the C library's lookup cannot be linked statically.
fn account() -> Option<String> {
    let user = rustix::process::geteuid().as_raw().to_string();
    let file = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_user = file.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let name = of_user.into_iter().find(|fields| fields.get(2) == Some(&user.as_str()));
    name.map(|fields| fields[0].to_owned()).or_else(|| std::env::var("USER").ok())
}

fn looked_up(remote: Remote) -> Result<Remote> {
    if remote.is_local_socket() || remote.address.is_some() || remote.host.parse::<IpAddr>().is_ok() {
        return Ok(remote);
    }
    let addresses = addresses(&remote.host)?;
    let address = match addresses.as_slice() {
        [] => return Err(EndedWith::bad_input(format!("the host {:?} is not known here", remote.host)).into()),
        [only] => *only,
        several => first_that_accepts(several, remote.port),
    };
    Ok(Remote { address: Some(address), ..remote })
}

fn addresses(host: &str) -> Result<Vec<IpAddr>> {
    match lookup::addresses(host, LOOKUP_LIMIT) {
        Err(ProcessError::TooLong { limit, .. }) => {
            Err(EndedWith::bad_input(format!("the host {host:?} was not found within {} s", limit.as_secs())).into())
        }
        told => told.context("looking up the host's name"),
    }
}

/// The first address if none accepts: connecting to it then shows why.
fn first_that_accepts(addresses: &[IpAddr], port: u16) -> IpAddr {
    let accepts =
        |address: &&IpAddr| TcpStream::connect_timeout(&SocketAddr::new(**address, port), CONNECT_LIMIT).is_ok();
    *addresses.iter().find(accepts).unwrap_or(&addresses[0])
}

/// Fails unless sessions can be opened there.
pub fn reach(endpoint: &Endpoint) -> Result<(), EndedWith> {
    engines::catalog::admin(endpoint).map(drop).map_err(|error| refused(endpoint, &error))
}

/// Why a session could not be opened, with advice on what to change.
pub fn refused(endpoint: &Endpoint, error: &SessionError) -> EndedWith {
    let advice = match error {
        SessionError::Refused { message, .. } if message.contains("asks for a password") => match endpoint {
            Endpoint::Postgres(_) => "; give it by PGPASSWORD or ~/.pgpass",
            _ => "; give it by MYSQL_PWD or ~/.my.cnf",
        },
        SessionError::Insecure { why } if why.contains("no trusted authority") => match endpoint {
            Endpoint::Postgres(_) => "; the parameter is sslrootcert",
            _ => "; the parameter is ssl-ca",
        },
        SessionError::Lost(cause) => {
            let why = match cause.kind() {
                io::ErrorKind::ConnectionRefused => "nothing listens there",
                io::ErrorKind::NotFound => "there is no such socket",
                io::ErrorKind::TimedOut => "nothing answers there",
                _ => return EndedWith::bad_input(format!("{endpoint}: cannot connect: {cause}")),
            };
            return EndedWith::bad_input(format!("{endpoint}: cannot connect: {why}"));
        }
        _ => "",
    };
    EndedWith::bad_input(format!("{endpoint}: {error}{advice}"))
}
