//! The address where metrics are served: how it may be written, and listening there.
//!
//! Names are not looked up: a statically linked program cannot ask the system's name service.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

/// The default address for metrics: on this host only, at the port registered for OpenMetrics.
pub const DEFAULT: &str = "127.0.0.1:9464";
const PORT: u16 = 9464;

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("another program already listens at {0}; name another port, or 0 for any that is free, as in --metrics=:0")]
    Busy(SocketAddr),
    #[error("no interface of this host has the address of {0}; --metrics=:{port} is its own", port = .0.port())]
    NotOurs(SocketAddr),
    #[error("the port of {0} is for root alone; name one from 1024 on, as in --metrics=:{PORT}")]
    NotAllowed(SocketAddr),
    #[error("listening at {address}: {source}; name another address, as in --metrics={DEFAULT}")]
    Other { address: SocketAddr, source: std::io::Error },
}

/// Reads `host:port`, `:port`, `port`, `host` or an empty text. Missing parts are this host's own address or the usual port.
pub fn parse(text: &str) -> Result<SocketAddr, String> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let host = |host: &str| if host == "localhost" { Some(loopback) } else { host.parse().ok() };
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    if text.is_empty() {
        return Ok(SocketAddr::new(loopback, PORT));
    }
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse() {
        return Ok(SocketAddr::new(loopback, port));
    }
    if let Some(host) = host(text.trim_start_matches('[').trim_end_matches(']')) {
        return Ok(SocketAddr::new(host, PORT));
    }
    let parts = text.rsplit_once(':').ok_or_else(|| wrong(text, "it is neither a port nor an address of digits"))?;
    let port = parts.1.parse().map_err(|_| wrong(text, &format!("{:?} is no port from 0 to 65535", parts.1)))?;
    let host = host(parts.0).ok_or_else(|| wrong(text, &format!("{:?} is no address of digits", parts.0)))?;
    match host {
        IpAddr::V6(_) => Err(wrong(text, &format!("the address of IPv6 needs brackets: [{host}]:{port}"))),
        IpAddr::V4(_) => Ok(SocketAddr::new(host, port)),
    }
}

fn wrong(text: &str, why: &str) -> String {
    let is_file = text.contains('/') || text.contains(".toml");
    let hint =
        if is_file { "; a study comes before --metrics, or behind --metrics= with nothing at its end" } else { "" };
    format!("{why}; write host:port, :port or port, as in {DEFAULT}, :9464 or [::1]:9464{hint}")
}

/// True if only programs on this host can reach it.
pub fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

pub fn listen(address: SocketAddr) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).map_err(|source| match source.kind() {
        ErrorKind::AddrInUse => BindError::Busy(address),
        ErrorKind::AddrNotAvailable => BindError::NotOurs(address),
        ErrorKind::PermissionDenied => BindError::NotAllowed(address),
        _ => BindError::Other { address, source },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_this_host_and_the_usual_port() {
        for (text, expected) in [
            (DEFAULT, "127.0.0.1:9464"),
            ("", "127.0.0.1:9464"),
            ("9100", "127.0.0.1:9100"),
            (":9100", "127.0.0.1:9100"),
            ("0", "127.0.0.1:0"),
            ("localhost:1", "127.0.0.1:1"),
            ("localhost", "127.0.0.1:9464"),
            ("0.0.0.0:9464", "0.0.0.0:9464"),
            ("192.0.2.7", "192.0.2.7:9464"),
            ("[::1]:9464", "[::1]:9464"),
            ("[::1]", "[::1]:9464"),
            ("::1", "[::1]:9464"),
        ] {
            assert_eq!(parse(text).map(|address| address.to_string()).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_told_the_nearest_right_thing() {
        for (text, part) in [
            ("65536", "neither a port"),
            ("-1", "neither a port"),
            ("db.example:9464", "\"db.example\" is no address of digits"),
            ("127.0.0.1:http", "\"http\" is no port from 0 to 65535"),
            ("127.0.0.1:", "\"\" is no port"),
            ("fe80::2x:1", "is no address of digits"),
            ("studies/quickstart.toml", "a study comes before --metrics"),
            ("quickstart.toml", "a study comes before --metrics"),
            ("http://127.0.0.1:9464", "is no address of digits"),
            ("http://127.0.0.1:9464/metrics", "is no port"),
        ] {
            let told = parse(text).unwrap_err();
            assert!(told.contains(part) && told.contains("[::1]:9464"), "{text}: {told}");
        }
    }

    #[test]
    fn only_this_hosts_own_addresses_are_kept_to_it() {
        for (text, expected) in [
            ("127.0.0.1:1", true),
            ("127.9.9.9:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("192.0.2.7:1", false),
        ] {
            assert_eq!(is_loopback(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn a_busy_or_foreign_address_is_named_with_the_way_out() {
        let first = listen(parse("0").unwrap()).unwrap();
        let address = first.local_addr().unwrap();
        let told = listen(address).unwrap_err().to_string();
        assert!(told.contains(&address.to_string()) && told.contains("--metrics=:0"), "{told}");
        // An address reserved for documentation, which no host has.
        let told = listen("192.0.2.7:9464".parse().unwrap()).unwrap_err().to_string();
        assert!(told.contains("192.0.2.7") && told.contains("--metrics=:9464"), "{told}");
    }
}
