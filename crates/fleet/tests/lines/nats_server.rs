//! A server of NATS of our own, on a free port, which ends with the test.

use machines::process::{Launch, Process};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SERVER: &str = "/usr/sbin/nats-server";
const START_LIMIT: Duration = Duration::from_mins(1);

pub struct NatsServer {
    folder: TempDir,
    port: u16,
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
        Self::with(|folder| {
            private(folder, "token", "a secret\n");
            let (config, keys) =
                ("authorization { token: \"a secret\" }".to_owned(), "token_file = \"token\"".to_owned());
            Access { config, scheme: "nats", keys }
        })
    }

    /// One that is reached in another way, whose files are made in a folder.
    pub fn with(access: impl FnOnce(&Path) -> Access) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let access = access(folder.path());
        let config = format!("listen: \"127.0.0.1:{port}\"\n{}\n", access.config);
        std::fs::write(folder.path().join("server.conf"), config).unwrap();
        let process = process(folder.path(), port);
        let server = Self { folder, port, access, process };
        std::fs::write(server.file(), server.text("")).unwrap();
        server
    }

    /// The description of a fleet on it.
    pub fn text(&self, further: &str) -> String {
        let Self { port, access: Access { scheme, keys, .. }, .. } = self;
        format!("name = \"lab\"\nserver = \"{scheme}://127.0.0.1:{port}\"\n{keys}\n{further}")
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
        self.process = process(self.folder.path(), self.port);
    }
}

/// A file that only its owner can read.
pub fn private(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
    std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(0o600)).unwrap();
}

fn process(folder: &Path, port: u16) -> Process {
    let launch = Launch::new(&[SERVER, "-c"]).args([folder.join("server.conf")]);
    let mut process = Process::start(launch.log(&folder.join("server.log")).unwrap()).unwrap();
    let deadline = Instant::now() + START_LIMIT;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(Instant::now() < deadline, "{}", std::fs::read_to_string(folder.join("server.log")).unwrap());
        assert_eq!(process.wait(Duration::from_millis(20)).unwrap(), None, "nats-server has ended");
    }
    process
}
