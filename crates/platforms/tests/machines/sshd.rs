//! This machine as another host: an ssh server of our own on a free port, which ends with the test.

use engines::port::HeldPort;
use machines::process::{Launch, Process};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const SSHD: &str = "/usr/sbin/sshd";
const START_LIMIT: Duration = Duration::from_secs(30);

pub struct Sshd {
    folder: TempDir,
    _process: Process,
    _held: HeldPort,
}

impl Sshd {
    pub fn is_installed() -> bool {
        Path::new(SSHD).exists()
    }

    pub fn start() -> Self {
        let sshd = |config: &str| Launch::new(&[SSHD, "-D", "-f", config]);
        Self::started("here here-too", &sshd)
    }

    /// A server that a client knows under these names. `launch` is given the file of its configuration.
    pub fn started(names: &str, launch: &dyn Fn(&str) -> Launch) -> Self {
        // sshd wants this folder if root starts it.
        let _ = std::fs::DirBuilder::new().recursive(true).mode(0o755).create("/run/sshd");
        let folder = tempfile::tempdir().unwrap();
        for key in ["host_key", "key"] {
            let file = folder.path().join(key);
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&file).status();
            assert!(made.unwrap().success());
        }
        let held = HeldPort::of_loopback().unwrap();
        let port = held.number();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let of_server = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
             SetEnv HOME={}\n",
            path("host_key"),
            path("key.pub"),
            folder.path().display()
        );
        // bash reads this file if sshd starts it, too.
        let profile = "echo welcome to this machine; echo and more >&2; touch ~/profile-was-read\n";
        std::fs::write(path(".bashrc"), profile).unwrap();
        std::fs::write(path("sshd_config"), of_server).unwrap();
        let host_key = std::fs::read_to_string(path("host_key.pub")).unwrap();
        std::fs::write(path("known_hosts"), format!("[127.0.0.1]:{port} {host_key}")).unwrap();
        let of_client = format!(
            "Host {names}\n HostName 127.0.0.1\n Port {port}\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n \
             GlobalKnownHostsFile none\n StrictHostKeyChecking yes\n",
            path("key"),
            path("known_hosts")
        );
        std::fs::write(path("ssh_config"), of_client).unwrap();
        let launch = launch(&path("sshd_config"));
        let mut process = Process::start(launch.log(&folder.path().join("sshd.log")).unwrap()).unwrap();
        let deadline = Instant::now() + START_LIMIT;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(Instant::now() < deadline, "{}", std::fs::read_to_string(path("sshd.log")).unwrap());
            assert_eq!(process.wait(Duration::from_millis(20)).unwrap(), None, "sshd has ended");
        }
        Self { folder, _process: process, _held: held }
    }

    /// The settings of a contender on this host.
    pub fn table(&self, folder: &Path, server: &str) -> Value {
        let config = self.folder.path().join("ssh_config");
        json!({ "host": "here", "ssh_options": ["-F", config], "folder": folder, "server": server })
    }

    /// A file of the server or its client: a key, a list of known hosts.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
