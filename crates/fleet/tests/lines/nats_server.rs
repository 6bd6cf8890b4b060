//! A NATS server of our own, at an address that no other test has, which ends with the test.

use machines::process::{Launch, Process};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SERVER: &str = "/usr/sbin/nats-server";
const START_LIMIT: Duration = Duration::from_mins(1);

pub struct NatsServer {
    folder: TempDir,
    at: SocketAddrV4,
    /// How the fleet's file says where it is, and how to log in.
    access: Access,
    process: Process,
}

/// How a server is reached.
pub struct Access {
    /// What its configuration says besides the address.
    pub config: String,
    pub scheme: &'static str,
    /// The keys of the fleet's file.
    pub keys: String,
}

impl NatsServer {
    pub fn is_installed() -> bool {
        Path::new(SERVER).exists()
    }

    /// One that asks for a token.
    pub fn start() -> Self {
        Self::with(|folder, _| {
            private(folder, "token", "a secret\n");
            let (config, keys) =
                ("authorization { token: \"a secret\" }".to_owned(), "token_file = \"token\"".to_owned());
            Access { config, scheme: "nats", keys }
        })
    }

    /// One that is reached in another way, whose files for its address are made in a folder.
    pub fn with(access: impl FnOnce(&Path, Ipv4Addr) -> Access) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = address();
        let access = access(folder.path(), *at.ip());
        let config = format!("listen: \"{at}\"\n{}\n", access.config);
        std::fs::write(folder.path().join("server.conf"), config).unwrap();
        let process = process(folder.path(), at);
        let server = Self { folder, at, access, process };
        std::fs::write(server.file(), server.text("")).unwrap();
        server
    }

    /// The description of a fleet on it.
    pub fn text(&self, further: &str) -> String {
        let Self { at, access: Access { scheme, keys, .. }, .. } = self;
        format!("name = \"lab\"\nserver = \"{scheme}://{at}\"\n{keys}\n{further}")
    }

    /// The file with that description.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("lab.toml")
    }

    /// It is killed, and comes back after a while without a memory.
    pub fn is_killed_for(&mut self, pause: Duration) {
        self.process.kill().unwrap();
        // Nothing comes on this channel.
        let (_held, never) = std::sync::mpsc::channel::<()>();
        let _ = never.recv_timeout(pause);
        self.process = process(self.folder.path(), self.at);
    }
}

/// One that only this server uses, also while the server is down: each has a loopback address of its own.
fn address() -> SocketAddrV4 {
    static STARTED: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let ip = Ipv4Addr::new(127, high, low, STARTED.fetch_add(1, Ordering::Relaxed));
    let port = TcpListener::bind((ip, 0)).unwrap().local_addr().unwrap().port();
    SocketAddrV4::new(ip, port)
}

/// A file that only its owner can read.
pub fn private(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
    std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(0o600)).unwrap();
}

fn process(folder: &Path, at: SocketAddrV4) -> Process {
    let launch = Launch::new(&[SERVER, "-c"]).args([folder.join("server.conf")]);
    let mut process = Process::start(launch.log(&folder.join("server.log")).unwrap()).unwrap();
    let deadline = Instant::now() + START_LIMIT;
    while TcpStream::connect(at).is_err() {
        let log = || std::fs::read_to_string(folder.join("server.log")).unwrap();
        assert!(Instant::now() < deadline, "{}", log());
        assert_eq!(process.wait(Duration::from_millis(20)).unwrap(), None, "nats-server has ended: {}", log());
    }
    process
}
