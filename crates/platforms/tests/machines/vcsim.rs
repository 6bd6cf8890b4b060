//! A simulated vCenter server of our own, which ends with the test. Its machines are agents behind TCP ports.

use crate::place::{cache_folder, example, order, shut_down, skip};
use engines::port::HeldPort;
use images::data::DataDisk;
use machines::cached::CachedFolder;
use machines::process::{Launch, Process};
use machines::ready::becomes_ready;
use platforms::credentials::Credentials;
use platforms::platform::Platform;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vcsim");
const FILES: [&str; 3] = ["main.go", "go.mod", "go.sum"];
/// Compiling it the first time.
const BUILD_LIMIT: Duration = Duration::from_mins(10);
const START_LIMIT: Duration = Duration::from_mins(1);
pub const USER: &str = "tester@vsphere.local";
pub const PASSWORD: &str = "correct <horse> & battery";
/// A machine of vcsim's inventory that every test may clone.
pub const TEMPLATE: &str = "DC0_H0_VM0";

/// Machines of servers that run at the same time need different addresses.
static NETWORK: AtomicU32 = AtomicU32::new(0);

pub fn credentials() -> Credentials {
    Credentials::of(|name| Some(if name.ends_with("USER") { USER } else { PASSWORD }.to_owned()))
}

pub struct Vcsim {
    pub folder: TempDir,
    pub address: String,
    pub fingerprint: String,
    held: HeldPort,
    asked: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    process: Option<Process>,
}

impl Vcsim {
    /// `None` if it cannot be built and is not required.
    pub fn start() -> Option<Self> {
        let program = match built() {
            Ok(program) => program,
            Err(why) => {
                skip("vcsim", &why);
                return None;
            }
        };
        let folder = tempfile::tempdir().unwrap();
        let path = format!("{SOURCES}:{}", std::env::var("PATH").unwrap());
        let (process, number) = (std::process::id(), NETWORK.fetch_add(1, Ordering::Relaxed));
        let network = format!("127.{}.{}", process % 250 + 1, (process / 250 + number) % 250 + 1);
        let launch = Launch::new(&[program.to_str().unwrap(), USER, PASSWORD])
            .env("PATH", path)
            .env("STANDIN_FOLDER", folder.path())
            .env("STANDIN_AGENT", example("test_agent"))
            .env("STANDIN_NETWORK", network)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(folder.path().join("vcsim.log")).unwrap());
        let mut process = Process::start(launch).unwrap();
        let stdout = process.take_stdout().unwrap();
        assert!(becomes_ready(&stdout, START_LIMIT).unwrap(), "vcsim does not start");
        let (stdin, mut stdout) = (process.take_stdin().unwrap(), BufReader::new(stdout));
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let (address, fingerprint) = line.trim().split_once(' ').unwrap();
        let (address, fingerprint) = (address.to_owned(), fingerprint.to_owned());
        let held = HeldPort::of_loopback().unwrap();
        let asked = Mutex::new((stdin, stdout));
        Some(Self { folder, address, fingerprint, held, asked, process: Some(process) })
    }

    /// The settings of a contender there; `inside` is what its machines do.
    pub fn table(&self, inside: &str) -> Value {
        json!({
            "url": format!("https://{}", self.address),
            "fingerprint": self.fingerprint,
            "template": TEMPLATE,
            "resource_pool": "DC0_C0",
            "host": "DC0_C0_H0",
            "agent_port": self.held.number(),
            "extra_config": [format!("RUN.container={inside}"), "RUN.mountdmi=false"],
        })
    }

    /// Ends all sessions, as a server does with those that were idle for long.
    pub fn forget_sessions(&self) {
        self.ask("forget");
    }

    /// Names of all folders of its inventory.
    pub fn folders(&self) -> Vec<String> {
        self.ask("folders")
    }

    fn ask(&self, what: &str) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap();
        let (stdin, stdout) = &mut *asked;
        stdin.write_all(format!("{what}\n").as_bytes()).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        line.trim().split('\t').map(str::to_owned).collect()
    }

    /// Ends it at once, without a word to anybody.
    pub fn kill(&mut self) {
        let killed = self.process.take().map(|mut process| process.kill());
        assert!(killed.is_some_and(|killed| killed.is_ok()));
    }

    /// The folders that the stand-in keeps of machines that exist.
    pub fn machines(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.join("token").exists()).collect()
    }
}

impl Drop for Vcsim {
    fn drop(&mut self) {
        for machine in self.machines() {
            // An agent of a machine that was not destroyed.
            if let Ok(pid) = std::fs::read_to_string(machine.join("pid")) {
                let _ = Command::new("kill").args(["-9", pid.trim()]).status();
            }
        }
    }
}

/// Makes the machine that data are loaded in. Returns the data's path as the platform knows it.
pub fn load(platform: &dyn Platform, folder: &Path) -> PathBuf {
    let path = PathBuf::from("data/loaded");
    let order = order("loading", None, DataDisk::Folder(path.clone()), folder, folder);
    shut_down(platform.start(&order, &|| ()).unwrap_or_else(|error| panic!("{error}")));
    path
}

/// Builds the program, or finds it in the cache of the tests; an error says what is missing. Compiling it takes minutes of
/// CPU time, so only one process does it.
fn built() -> Result<PathBuf, String> {
    let mut hash = Sha256::new();
    for file in FILES {
        hash.update(std::fs::read(Path::new(SOURCES).join(file)).unwrap());
    }
    let key = hash.finalize().iter().take(8).fold(String::new(), |mut key, byte| {
        write!(key, "{byte:02x}").unwrap();
        key
    });
    let place = cache_folder().join(format!("vcsim-{key}"));
    let program = place.join("vcsim");
    if program.exists() {
        return Ok(program);
    }
    let folder = CachedFolder::lock(&place, BUILD_LIMIT, &mut || true).map_err(|error| error.to_string())?;
    if program.exists() {
        return Ok(program);
    }
    std::fs::create_dir(folder.built()).map_err(|error| error.to_string())?;
    let aside = folder.built().join("vcsim");
    // Optimizing it takes longer than the tests gain by it.
    let words = ["go", "build", "-gcflags=all=-N -l", "-o", aside.to_str().unwrap(), "main.go"];
    // Without cgo, parts of the standard library need no C compiler.
    let launch = Launch::new(&words).folder(SOURCES).env("CGO_ENABLED", "0");
    let built = launch.run_to_any_end(BUILD_LIMIT, &mut |line| println!("{line}"));
    let built = built.map_err(|error| format!("vcsim cannot be built: {error}"))?;
    if !built.status.success() {
        return Err(format!("vcsim cannot be built: {}", built.stderr.lines().last().unwrap_or("go failed")));
    }
    folder.keep().map_err(|error| error.to_string())?;
    Ok(program)
}
