//! Holds a port of this host for a server that will listen on it.

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;

/// A port that nobody else gets while this value lives. A native machine shares the host's ports, so two runs at once
/// could not both use a fixed port. A port that was only found free could be taken before the server starts.
/// The socket is bound to the port and does not listen. A server that sets `SO_REUSEADDR`, as PostgreSQL and MariaDB
/// do, can still listen there. The kernel never gives this port to a socket that asks for any free one.
#[derive(Debug)]
pub struct HeldPort {
    number: u16,
    _socket: OwnedFd,
}

impl HeldPort {
    pub fn of_loopback() -> io::Result<Self> {
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let address = SocketAddr::try_from(getsockname(&socket)?)?;
        Ok(Self { number: address.port(), _socket: socket })
    }

    pub fn number(&self) -> u16 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_server_may_listen_on_it_and_nobody_else_is_given_it() {
        let held = HeldPort::of_loopback().unwrap();
        // Binds like a server: it names the port and sets `SO_REUSEADDR`.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, held.number())).unwrap();
        drop(listener);
        let others: Vec<HeldPort> = (0..2000).map_while(|_| HeldPort::of_loopback().ok()).collect();
        assert!(others.len() > 100 && others.iter().all(|other| other.number() != held.number()));
        drop(others);
        let unshared = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        let taken = bind(&unshared, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, held.number()));
        assert_eq!(taken, Err(rustix::io::Errno::ADDRINUSE));
    }
}
