//! The first process of a guest.
//!
//! The kernel starts our binary as `/init` of the initramfs. It makes the guest look like every other machine of ours
//! (the same folders, mounts and environment; see [`machines::boot`]). Then it starts itself once more as a plain
//! `bakeoff agent` on the virtio port, and waits. So the agent in a guest is the same process as a native one. The
//! first process can reap every orphan without taking an exit status away from anybody. When the agent ends, the guest
//! powers off. Errors go to the console, which the host shows.

mod disks;
mod mounts;
mod network;
mod waiting;

use machines::boot::{AGENT_PORT, BootWords, DATA_FOLDER, ENVIRONMENT, LOG_FOLDER};
use rustix::process::WaitOptions;
use rustix::system::{RebootCommand, finit_module, reboot};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use waiting::wait_for;

/// The kernel's name for the first process of an initramfs.
const INIT: &str = "/init";
const MODULES_FOLDER: &str = "/modules";
const CONSOLE: &str = "/dev/console";

#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    #[error("{doing}: {source}")]
    Step { doing: String, source: io::Error },
    #[error("the kernel command line: {0}")]
    Words(String),
    #[error("no {what} within {limit_s} s; there is {seen}")]
    Missing { what: String, limit_s: u64, seen: String },
    #[error("the agent ended: {0}")]
    AgentEnded(String),
}

/// For `map_err`: adds what was tried.
fn failing<E: Into<io::Error>>(doing: impl Into<String>) -> impl FnOnce(E) -> GuestError {
    let doing = doing.into();
    move |source| GuestError::Step { doing, source: source.into() }
}

/// What `prepare` has set up in a guest.
#[derive(Debug)]
pub struct GuestPlace {
    /// The stream to the host.
    pub port: File,
    /// The path of our own binary, which a change of root moves.
    pub agent: PathBuf,
}

/// Whether this process is the first one of a guest of ours. (The first process of a container has the same id, but not
/// the name that the kernel gives.)
pub fn is_init(called: Option<&OsStr>) -> bool {
    std::process::id() == 1 && called.is_some_and(|name| name == INIT)
}

/// Runs the guest from start to end. Returns only if the guest cannot even be powered off.
pub fn run() {
    if let Err(error) = prepare().and_then(|place| live(&place)) {
        say(&format!("bakeoff: {error}"));
    }
    power_off();
}

/// Sets up mounts, drivers, network, disks and the port to the host.
pub fn prepare() -> Result<GuestPlace, GuestError> {
    mounts::of_the_kernel()?;
    let line = fs::read_to_string("/proc/cmdline").map_err(failing("reading the kernel command line"))?;
    let words = BootWords::parse(&line).map_err(GuestError::Words)?;
    load_modules(Path::new(MODULES_FOLDER))?;
    network::bring_up("lo", None)?;
    if let Some(address) = words.network {
        network::bring_up(&network::first_interface()?, Some(address))?;
    }
    let agent = if let Some(label) = &words.root {
        mounts::enter_root(&disks::with_label(label)?, Path::new(INIT))?;
        PathBuf::from(machines::boot::AGENT_FILE)
    } else {
        mounts::writable_folders(Path::new("/"))?;
        PathBuf::from(INIT)
    };
    if let Some(label) = &words.data {
        mounts::data(&disks::with_label(label)?, Path::new(DATA_FOLDER), &words.tuning)?;
    }
    machines::limits::raise_open_files(words.open_files).map_err(failing("raising the limit of open files"))?;
    Ok(GuestPlace { port: open_port(AGENT_PORT)?, agent })
}

/// Runs the agent, and reaps every process that ends until the agent does.
fn live(place: &GuestPlace) -> Result<(), GuestError> {
    let sharing = || place.port.try_clone().map_err(failing("sharing the virtio port"));
    let mut command = Command::new(&place.agent);
    command.args(["agent", "--data", DATA_FOLDER, "--logs", LOG_FOLDER]);
    command.env_clear().envs(ENVIRONMENT.iter().copied()).current_dir("/");
    command.stdin(sharing()?).stdout(sharing()?).stderr(Stdio::inherit());
    let agent = command.spawn().map_err(failing("starting the agent"))?;
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().unsigned_abs() == agent.id() => {
                return match status.exit_status() {
                    Some(0) => Ok(()),
                    Some(code) => Err(GuestError::AgentEnded(format!("exit status {code}"))),
                    None => Err(GuestError::AgentEnded(format!("signal {}", status.terminating_signal().unwrap_or(0)))),
                };
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(failing("waiting for the agent")(error)),
        }
    }
}

/// Syncs the data to disk and switches the machine off. Returns only if that fails; the kernel then panics, and the
/// host sees the machine end all the same.
pub fn power_off() {
    rustix::fs::sync();
    // This fails if nothing is mounted, or if a leftover server still uses the disk. Syncing is all that can be done then.
    let _ = mounts::release(Path::new(DATA_FOLDER));
    if let Err(error) = reboot(RebootCommand::PowerOff) {
        say(&format!("bakeoff: powering off: {error}"));
    }
}

/// Loads all drivers of the initramfs. Their file names sort each after those it needs.
fn load_modules(folder: &Path) -> Result<(), GuestError> {
    let listing = || failing(format!("listing {}", folder.display()));
    let entries = fs::read_dir(folder).map_err(listing())?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(listing())?;
    files.sort();
    for file in files {
        let loading = || failing(format!("loading {}", file.display()));
        let module = File::open(&file).map_err(loading())?;
        match finit_module(&module, c"", 0) {
            // Some are loaded already.
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(failing(format!("loading {}", file.display()))(error)),
        }
    }
    Ok(())
}

/// Opens the virtio-serial port with this name.
fn open_port(name: &str) -> Result<File, GuestError> {
    let ports = Path::new("/sys/class/virtio-ports");
    let device = wait_for(
        &format!("virtio port {name}"),
        || {
            let entries = fs::read_dir(ports).ok()?;
            entries.flatten().find_map(|entry| {
                let found = fs::read_to_string(entry.path().join("name")).ok()?;
                (found.trim_end() == name).then(|| Path::new("/dev").join(entry.file_name()))
            })
        },
        || waiting::names_in(ports),
    )?;
    let opening = failing(format!("opening {}", device.display()));
    File::options().read(true).write(true).open(&device).map_err(opening)
}

/// Prints on the console, which the host keeps. If that fails, nobody else would read it.
fn say(sentence: &str) {
    if let Ok(mut console) = File::options().write(true).open(CONSOLE) {
        let _ = writeln!(console, "{sentence}");
    }
}
