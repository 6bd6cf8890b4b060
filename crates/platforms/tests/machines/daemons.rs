//! A libvirtd of the tests' own, with a private socket, and the virtlogd that it needs.
//!
//! Only one libvirtd can serve a system: its folders below `/run/libvirt` and `/var/lib/libvirt` have fixed paths. So
//! tests wait for each other, and nothing is tested where the system's own runs.
//!
//! It runs QEMU as root. As another user that may not open `/dev/kvm`, libvirt asks QEMU again and again what it can do,
//! and making a domain takes a minute. That setting has a fixed path, too, so it is mounted there for libvirtd alone.

use crate::place::skip;
use machines::process::{Launch, Process};
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const LIBVIRTD: &str = "/usr/sbin/libvirtd";
const VIRTLOGD: &str = "/usr/sbin/virtlogd";
const DRIVER: &str = "/usr/lib/x86_64-linux-gnu/libvirt/connection-driver/libvirt_driver_qemu.so";
const SYSTEMS: [&str; 2] = ["/run/libvirt/libvirt-sock", "/run/libvirt/virtqemud-sock"];
const LOCK: &str = "/run/lock/bakeoff-test-libvirt";
const LIMIT: Duration = Duration::from_mins(2);

pub struct Daemons {
    folder: TempDir,
    libvirtd: Mutex<Process>,
    virtlogd: Mutex<Process>,
    _lock: File,
}

impl Daemons {
    /// `None` without libvirt. Waits until those of another test have ended.
    pub fn start() -> Option<Self> {
        if let Some(lacks) = [LIBVIRTD, VIRTLOGD, DRIVER].into_iter().find(|file| !Path::new(file).exists()) {
            skip("libvirt", &format!("there is no {lacks}"));
            return None;
        }
        if !rustix::process::geteuid().is_root() {
            skip("libvirt", "only root can start a libvirtd of the system");
            return None;
        }
        if let Some(system) = SYSTEMS.into_iter().find(|socket| UnixStream::connect(socket).is_ok()) {
            skip("libvirt", &format!("the system's own listens at {system}, and there can be only one"));
            return None;
        }
        let lock = File::create(LOCK).unwrap();
        lock.lock().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).unwrap();
            folder.path().join(name)
        };
        let own = |name: &str| folder.path().join(name).display().to_string();
        let of_logs = write("virtlogd.conf", String::new());
        let of_domains = write(
            "libvirtd.conf",
            format!(
                "unix_sock_dir = \"{}\"\nauth_unix_rw = \"none\"\nauth_unix_ro = \"none\"\n",
                folder.path().display()
            ),
        );
        let of_qemu = write("qemu.conf", "user = \"root\"\ngroup = \"root\"\n".to_owned());
        let mount = format!("mount --bind '{}' /etc/libvirt/qemu.conf; exec \"$@\"", of_qemu.display());
        let start = |program: &str, settings: &Path| {
            let name = Path::new(program).file_name().unwrap().to_str().unwrap();
            let pid = own(&format!("{name}.pid"));
            let apart = ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", &mount, "sh"];
            let words = [program, "-f", settings.to_str().unwrap(), "-p", &pid];
            let words = if program == LIBVIRTD { [&apart[..], &words].concat() } else { words.to_vec() };
            Process::start(Launch::new(&words).log(&folder.path().join(format!("{name}.log"))).unwrap()).unwrap()
        };
        let mut virtlogd = start(VIRTLOGD, &of_logs);
        until("virtlogd does not listen", &mut virtlogd, &|| UnixStream::connect("/run/libvirt/virtlogd-sock").is_ok());
        let mut libvirtd = start(LIBVIRTD, &of_domains);
        let socket = folder.path().join("libvirt-sock");
        until("libvirtd does not listen", &mut libvirtd, &|| UnixStream::connect(&socket).is_ok());
        let (libvirtd, virtlogd) = (Mutex::new(libvirtd), Mutex::new(virtlogd));
        Some(Self { folder, libvirtd, virtlogd, _lock: lock })
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("libvirt-sock")
    }

    pub fn uri(&self) -> String {
        format!("qemu+unix:///system?socket={}", self.socket().display())
    }

    /// Kills libvirtd, as a crash would.
    pub fn kill_libvirtd(&self) {
        self.libvirtd.lock().unwrap().kill().unwrap();
    }
}

fn until(what: &str, process: &mut Process, is_so: &dyn Fn() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is_so() {
        assert!(process.wait(Duration::from_millis(20)).unwrap().is_none(), "{what}: it has ended");
        assert!(Instant::now() < deadline, "{what}");
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        for daemon in [&self.libvirtd, &self.virtlogd] {
            let mut daemon = daemon.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // One of them may have been killed by the test.
            let _ = daemon.end(rustix::process::Signal::TERM, LIMIT);
        }
    }
}
