//! A link that delays: it passes on what clients and server say, each byte a fixed time after it came.

use anyhow::Context;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// Ends with the process. Its threads wait for connections until then.
pub struct Relay {
    port: u16,
}

impl Relay {
    /// Leads to a port of this host.
    pub fn start(to: u16, delay: Duration) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("listening")?;
        let port = listener.local_addr().context("listening")?.port();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A connection that cannot be made ends here, and the client says so.
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else { continue };
                let _ = connect(client, server, delay);
            }
        });
        Ok(Self { port })
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

fn connect(client: TcpStream, server: TcpStream, delay: Duration) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (to_client, to_server) = (client.try_clone()?, server.try_clone()?);
    let (hang_up_client, hang_up_server) = (client.try_clone()?, server.try_clone()?);
    pass_on(client, to_server, delay, move || drop(hang_up_server.shutdown(Shutdown::Both)));
    pass_on(server, to_client, delay, move || drop(hang_up_client.shutdown(Shutdown::Both)));
    Ok(())
}

fn pass_on(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    delay: Duration,
    hang_up: impl FnOnce() + Send + 'static,
) {
    let (held, due) = channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if held.send((Instant::now() + delay, buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (at, bytes) in due {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        hang_up();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_comes_through_and_both_ways_take_their_time() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let relay = Relay::start(listener.local_addr().unwrap().port(), Duration::from_millis(20)).unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut heard = [0; 5];
            stream.read_exact(&mut heard).unwrap();
            stream.write_all(&heard).unwrap();
        });
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port())).unwrap();
        let begun = Instant::now();
        client.write_all(b"hello").unwrap();
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, b"hello");
        assert!(begun.elapsed() >= Duration::from_millis(40), "it never comes early");
        server.join().unwrap();
    }
}
