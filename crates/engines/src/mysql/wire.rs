//! A connection to a MySQL or MariaDB server, before the handshake.

use super::packet::{Packets, put};
use crate::remote::Remote;
use crate::stream::Stream;
use crate::wire::Malformed;
use bytes::BufMut;
use std::io;
use std::path::Path;
use std::time::Instant;

pub type MysqlWire = crate::wire::Wire<Packets>;

pub fn open(remote: &Remote, deadline: Instant) -> io::Result<MysqlWire> {
    let stream = if remote.is_local_socket() {
        Stream::unix(Path::new(&remote.host), deadline)
    } else {
        Stream::tcp(remote, deadline)
    };
    Ok(MysqlWire::over(stream?))
}

impl MysqlWire {
    /// Appends a command with a text.
    pub fn command(&mut self, command: u8, text: &str) -> Result<(), Malformed> {
        put(self.outgoing(), 0, |out| {
            out.put_u8(command);
            out.put_slice(text.as_bytes());
        })
    }
}
