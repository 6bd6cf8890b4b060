//! Servers that speak a protocol up to a point, and then misbehave.

use engines::remote::{Remote, Tls};
use engines::secret::Secret;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

/// A client that takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// A password that no unverified server should learn.
pub const PASSWORD: &str = "hunter2";

/// Both directions of a connection, encrypted or not.
pub trait Line: Read + Write + Send {}
impl<T: Read + Write + Send> Line for T {}

/// A server for one connection. Its thread returns what it heard in the end.
pub struct Fake {
    port: u16,
    thread: JoinHandle<Vec<u8>>,
}

impl Fake {
    /// `speak` handles the first connection and returns what it heard.
    pub fn start(speak: impl FnOnce(TcpStream) -> io::Result<Vec<u8>> + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.set_write_timeout(Some(PATIENCE)).unwrap();
            // The client is supposed to hang up, so an error is fine.
            speak(stream).unwrap_or_default()
        });
        Self { port, thread }
    }

    pub fn remote(&self, tls: Tls) -> Remote {
        Remote {
            host: "localhost".to_owned(),
            address: Some(Ipv4Addr::LOCALHOST.into()),
            port: self.port,
            user: "ann".to_owned(),
            database: "shop".to_owned(),
            password: Some(Secret::new(PASSWORD)),
            tls,
            own_sql: false,
        }
    }

    /// Returns what it heard, once the client has gone.
    pub fn heard(self) -> Vec<u8> {
        self.thread.join().unwrap()
    }
}

pub fn contains(heard: &[u8], text: &str) -> bool {
    heard.windows(text.len()).any(|part| part == text.as_bytes())
}

/// Reads up to the end of the connection.
pub fn rest(line: &mut dyn Line) -> Vec<u8> {
    let mut heard = Vec::new();
    // An error is fine: the client may hang up abruptly.
    let _ = line.read_to_end(&mut heard);
    heard
}

/// Encrypts with a certificate that no authority has signed.
pub fn encrypted(stream: TcpStream) -> Box<dyn Line> {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["elsewhere".to_owned()]).unwrap().self_signed(&key).unwrap();
    let chain = vec![CertificateDer::from(certificate.der().to_vec())];
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(chain, key).unwrap();
    Box::new(StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream))
}

/// Returns the result of `body`, which must come soon: a client that waits for ever fails here.
pub fn soon<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = channel();
    std::thread::spawn(move || send.send(body()));
    receive.recv_timeout(PATIENCE).expect("an end of waiting")
}

pub mod postgres {
    use super::{Line, encrypted};
    use std::io;
    use std::net::TcpStream;

    pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag], &length.to_be_bytes()[..], body].concat()
    }

    pub fn authentication(number: u32, more: &[u8]) -> Vec<u8> {
        message(b'R', &[&number.to_be_bytes(), more].concat())
    }

    /// Reads a message without a tag, such as the client's first one.
    pub fn introduction(line: &mut dyn Line) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        line.read_exact(&mut length)?;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        line.read_exact(&mut body)?;
        Ok(body)
    }

    /// Reads one message of the client and returns its tag.
    pub fn heard(line: &mut dyn Line) -> io::Result<u8> {
        let mut tag = [0];
        line.read_exact(&mut tag)?;
        introduction(line)?;
        Ok(tag[0])
    }

    /// Accepts every client.
    pub fn welcome(line: &mut dyn Line) -> io::Result<()> {
        introduction(line)?;
        line.write_all(&[authentication(0, b""), message(b'Z', b"I")].concat())
    }

    /// Accepts the request to encrypt, which the client sends first.
    pub fn encrypting(mut stream: TcpStream) -> io::Result<Box<dyn Line>> {
        introduction(&mut stream)?;
        io::Write::write_all(&mut stream, b"S")?;
        Ok(encrypted(stream))
    }
}

pub mod mysql {
    use super::{Line, encrypted};
    use std::io;
    use std::net::TcpStream;

    pub const ENCRYPTS: u32 = 1 << 11;

    pub fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
        let [a, b, c, ..] = u32::try_from(body.len()).unwrap().to_le_bytes();
        [&[a, b, c, sequence], body].concat()
    }

    /// A greeting that names this method.
    pub fn greeting(method: &str, more: u32) -> Vec<u8> {
        let capabilities = (0x00a9_f7ff_u32 & !ENCRYPTS) | 1 << 24 | more;
        let [a, b, c, d] = capabilities.to_le_bytes();
        let body = [
            b"\x0a8.0.40\0\x01\0\0\0abcdefgh\0".as_slice(),
            &[a, b, 46, 2, 0, c, d, 21],
            &[0; 10],
            b"ijklmnopqrst\0",
            method.as_bytes(),
            b"\0",
        ];
        packet(0, &body.concat())
    }

    /// Reads the client's next packet: its sequence number and its body.
    pub fn heard(line: &mut dyn Line) -> io::Result<(u8, Vec<u8>)> {
        let mut header = [0; 4];
        line.read_exact(&mut header)?;
        let [a, b, c, sequence] = header;
        let mut body = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
        line.read_exact(&mut body)?;
        Ok((sequence, body))
    }

    pub const OK: &[u8] = b"\0\0\0\x02\0\0\0";

    /// Accepts every client.
    pub fn welcome(line: &mut dyn Line) -> io::Result<()> {
        line.write_all(&greeting("mysql_native_password", 0))?;
        let (sequence, _) = heard(line)?;
        line.write_all(&packet(sequence + 1, OK))
    }

    /// Greets, and encrypts as the client must ask.
    pub fn encrypting(mut stream: TcpStream, method: &str) -> io::Result<Box<dyn Line>> {
        io::Write::write_all(&mut stream, &greeting(method, ENCRYPTS))?;
        heard(&mut stream)?;
        Ok(encrypted(stream))
    }
}
