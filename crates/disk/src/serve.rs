//! The process of a disk: from its settings to its end.
//!
//! Its owner learns through one line whether the disk is there. After that everything is said over the socket.

use crate::control::next_line;
use crate::entry::Header;
use crate::log::Log;
use crate::mount::{MountError, Mounted, open_channel};
use crate::order::{Order, answer_line};
use crate::served::ServedDisk;
use crate::settings::FaultSettings;
use machines::ready::becomes_ready;
use rustix::process::{PidfdFlags, getppid, pidfd_open, set_parent_process_death_signal};
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Threads that take requests. Reads of one do not wait for a flush that another passes on to the host.
const TAKERS: usize = 4;
/// Connections to the socket at the same time; further ones are closed.
const MOST_CONNECTIONS: usize = 256;
/// Held answers are given within this when the disk ends.
const LAST_ANSWERS: Duration = Duration::from_secs(1);
/// The owner's end is waited for in pieces of this.
const LONG: Duration = Duration::from_hours(1);
/// How long an answer may wait for a client that does not read.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The lines by which the owner learns of the disk.
pub(crate) const READY: &str = "ready";
pub(crate) const UNAVAILABLE: &str = "unavailable ";
pub(crate) const FAILED: &str = "failed ";

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Mount(#[from] MountError),
    #[error("{doing} {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is empty, and a disk has a size", .0.display())]
    Empty(PathBuf),
    #[error("the connection to the kernel failed: {0}")]
    Channel(io::Error),
    #[error("a thread of the disk panicked")]
    Panicked,
}

fn failing(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ServeError {
    let path = path.to_owned();
    move |source| ServeError::Io { doing, path, source }
}

/// Why the disk ends.
enum End {
    Told,
    /// The mount is gone, or the connection failed.
    Channel(io::Result<()>),
    Panicked,
}

/// Serves a disk until it is asked to quit or its mount is removed. Says into `tell` in one line whether it is there.
///
/// Call it in a process of its own: that process ends with its owner, after it has removed the mount, and then whoever waits for the
/// disk gets an error.
pub fn serve(settings: &FaultSettings, tell: &mut dyn Write) -> Result<(), ServeError> {
    let started = start(settings);
    let line = match &started {
        Ok(_) => READY.to_owned(),
        Err(ServeError::Mount(MountError::Unavailable(why))) => format!("{UNAVAILABLE}{why}"),
        Err(error) => format!("{FAILED}{error}"),
    };
    let told = writeln!(tell, "{}", line.replace('\n', " ")).and_then(|()| tell.flush());
    let (served, mounted, ends) = started?;
    told.map_err(failing("reporting to the owner of", &settings.mount))?;
    // Its sender is among the threads, which live as long as the process.
    let end = ends.recv().unwrap_or(End::Panicked);
    // Also if nobody asked for it: nothing may wait for a disk that goes.
    let _ = served.tell(&Order::Quit);
    served.wait_until_given(LAST_ANSWERS);
    drop(mounted);
    // The folder is its owner's, who removes it if this fails.
    let _ = std::fs::remove_file(&settings.control);
    match end {
        End::Told | End::Channel(Ok(())) => Ok(()),
        End::Channel(Err(error)) => Err(ServeError::Channel(error)),
        End::Panicked => Err(ServeError::Panicked),
    }
}

type StartedDisk = (Arc<ServedDisk>, Mounted, Receiver<End>);

fn start(settings: &FaultSettings) -> Result<StartedDisk, ServeError> {
    let backing = File::options().read(true).write(true).open(&settings.backing);
    let backing = backing.map_err(failing("opening", &settings.backing))?;
    let size_bytes = backing.metadata().map_err(failing("looking at", &settings.backing))?.len();
    if size_bytes == 0 {
        return Err(ServeError::Empty(settings.backing.clone()));
    }
    let channel = open_channel()?;
    let header = Header { size_bytes, base: settings.base.clone() };
    let log = Log::create(&settings.log, &header, settings.most_log_bytes);
    let log = log.map_err(failing("making", &settings.log))?;
    let listener = UnixListener::bind(&settings.control).map_err(failing("listening at", &settings.control))?;
    let only_ours = std::fs::set_permissions(&settings.control, Permissions::from_mode(0o600));
    only_ours.map_err(failing("protecting", &settings.control))?;
    let served = ServedDisk::new(channel, backing, log, settings.flushes_backing);
    let served = Arc::new(served.map_err(failing("looking at", &settings.backing))?);
    let mounted = Mounted::over(&settings.mount, &served.channel, served.owner)?;
    let (send, ends) = sync_channel(TAKERS + 3);
    end_with_owner(&send).map_err(failing("watching the owner of", &settings.mount))?;
    for _ in 0..TAKERS {
        let served = Arc::clone(&served);
        run(&send, move || Some(End::Channel(served.take_requests())));
    }
    let answering = Arc::clone(&served);
    run(&send, move || {
        answering.give_answers();
        None
    });
    let (hearing, ends_of_disk) = (Arc::clone(&served), send.clone());
    run(&send, move || {
        listen(&listener, &hearing, &ends_of_disk);
        None
    });
    Ok((served, mounted, ends))
}

/// A process that was started by its owner is killed with it, and a killed one leaves its mount. This one sees that end and goes.
fn end_with_owner(ends: &SyncSender<End>) -> io::Result<()> {
    // Until the last line, we would be killed.
    let Some(owner) = getppid() else { return Ok(()) };
    let owner = pidfd_open(owner, PidfdFlags::empty())?;
    run(ends, move || {
        while matches!(becomes_ready(&owner, LONG), Ok(false)) {}
        Some(End::Told)
    });
    Ok(set_parent_process_death_signal(None)?)
}

/// Runs a thread whose end, if it panics too, is the end of the disk, unless it returns none.
fn run(ends: &SyncSender<End>, work: impl FnOnce() -> Option<End> + Send + 'static) {
    struct Guard(SyncSender<End>);
    impl Drop for Guard {
        fn drop(&mut self) {
            if thread::panicking() {
                // If there is no room, the end of the disk is reported already.
                let _ = self.0.try_send(End::Panicked);
            }
        }
    }
    let guard = Guard(ends.clone());
    thread::spawn(move || {
        if let Some(end) = work() {
            let _ = guard.0.try_send(end);
        }
    });
}

/// Serves each connection in a thread of its own.
fn listen(listener: &UnixListener, served: &Arc<ServedDisk>, ends: &SyncSender<End>) {
    let open = Arc::new(AtomicUsize::new(0));
    // A failed connection is its client's concern.
    for stream in listener.incoming().flatten() {
        if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (served, open) = (Arc::clone(served), Arc::clone(&open));
        run(ends, move || {
            let is_quit = hear(&stream, &served);
            open.fetch_sub(1, Ordering::Relaxed);
            is_quit.then_some(End::Told)
        });
    }
}

/// Does what a client says until it closes. True if it asked the disk to quit.
fn hear(stream: &UnixStream, served: &ServedDisk) -> bool {
    if stream.set_write_timeout(Some(ANSWER_LIMIT)).is_err() {
        return false;
    }
    let (mut pending, mut input) = (Vec::new(), stream);
    while let Ok(Some(line)) = next_line(&mut pending, &mut input) {
        let order = Order::parse(&line);
        let answer = order.clone().and_then(|order| served.tell(&order));
        let is_sent = input.write_all(answer_line(&answer).as_bytes()).is_ok();
        if order == Ok(Order::Quit) {
            return true;
        }
        if !is_sent {
            return false;
        }
    }
    false
}
