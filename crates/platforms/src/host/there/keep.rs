//! The keeper: owns the folder of a run there, as long as its input is open.

use super::{Ask, BINARY, DATA, HostReady, KeeperMessage, LEASES, MACHINES, TREE, below};
use crate::leftovers;
use crate::platform::copy_within;
use images::data::DataError;
use machines::frame::{Greeting, read_frame, write_frame};
use machines::scratch::{self, Scratch};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The names of binaries that were brought and not moved into a run's folder begin with this.
const BROUGHT: &str = "bakeoff.";
/// Nobody takes longer to bring a binary.
const BRINGING_LIMIT: Duration = Duration::from_hours(1);

/// Serves until the input ends, then removes everything of the run. `parent` is the folder of all runs of this user.
///
/// `connection` is what ssh says about the connection: addresses and ports of both ends.
pub fn keep(parent: &Path, name: &str, connection: &str, read: impl Read, write: impl Write) -> io::Result<()> {
    let kept = keep_folder(parent, name, connection, read, write);
    if kept.is_err() {
        // It is still where it was brought to, unless the folder took it along.
        let _ = std::env::current_exe().and_then(fs::remove_file);
    }
    // Other runs of this user may still be there.
    let _ = fs::remove_dir(parent);
    kept
}

fn keep_folder(
    parent: &Path,
    name: &str,
    connection: &str,
    mut read: impl Read,
    mut write: impl Write,
) -> io::Result<()> {
    let made =
        Scratch::create(parent, name).and_then(|scratch| Ok((scratch, scratch::sweep(parent, &leftovers::undo)?)));
    let (scratch, mut notes) = made.map_err(io::Error::other)?;
    let folder = scratch.path().to_owned();
    fs::rename(std::env::current_exe()?, folder.join(BINARY))?;
    notes.extend(forget_brought(parent)?);
    for name in [TREE, DATA, LEASES, MACHINES] {
        fs::create_dir(folder.join(name))?;
    }
    write_frame(&mut write, &Greeting::ours())?;
    let word = |number: usize| connection.split(' ').nth(number).and_then(|word| word.parse().ok());
    let (from, address) = (word(0), word(2));
    write_frame(
        &mut write,
        &KeeperMessage::Ready(HostReady { folder: folder.clone(), address, from, machine: machine(), notes }),
    )?;
    while let Ok(Some(ask)) = read_frame::<Ask>(&mut read) {
        let told = answer(&folder, ask);
        if write_frame(&mut write, &told).is_err() {
            break;
        }
    }
    Ok(())
}

/// An identity that only this machine has. Containers on one kernel differ in the second part, and clones of one disk in the first.
pub fn machine() -> String {
    let parts = ["/proc/sys/kernel/random/boot_id", "/etc/machine-id"];
    parts.map(|path| fs::read_to_string(path).unwrap_or_default().trim().to_owned()).join(" ")
}

/// Removes binaries that were brought long ago for runs that never began.
fn forget_brought(parent: &Path) -> io::Result<Vec<String>> {
    let mut told = Vec::new();
    for entry in fs::read_dir(parent)?.flatten() {
        let is_brought = entry.file_name().to_string_lossy().starts_with(BROUGHT);
        let Ok(metadata) = entry.metadata() else { continue };
        let age = metadata.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if is_brought && metadata.is_file() && age.is_some_and(|age| age > BRINGING_LIMIT) {
            fs::remove_file(entry.path())?;
            told.push(format!("removed {}, left over from a run that never began", entry.path().display()));
        }
    }
    Ok(told)
}

fn answer(folder: &Path, ask: Ask) -> KeeperMessage {
    carry_out(folder, ask).unwrap_or_else(|why| KeeperMessage::Failed { why })
}

fn carry_out(folder: &Path, ask: Ask) -> Result<KeeperMessage, String> {
    let io = |error: io::Error| error.to_string();
    let done = |result: Result<(), DataError>| match result {
        Err(DataError::NoSpace { needed_bytes, free_bytes, .. }) => {
            Ok(KeeperMessage::NoSpace { needed_bytes, free_bytes })
        }
        Err(DataError::Full { free_bytes, .. }) => Ok(KeeperMessage::NoSpace { needed_bytes: 0, free_bytes }),
        result => result.map(|()| KeeperMessage::Done).map_err(|error| error.to_string()),
    };
    match ask {
        Ask::Copy { from, to } => {
            let (from, to) = (below(folder, &from)?, below(folder, &to)?);
            remove(&to).map_err(io)?;
            done(images::data::clone_folder(&from, &to).map(drop))
        }
        Ask::CopyWithin { data, folders } => {
            for name in &folders {
                below(folder, Path::new(name))?;
            }
            done(copy_within(&below(folder, &data)?, &folders))
        }
        Ask::Remove { folder: path } => remove(&below(folder, &path)?).map(|()| KeeperMessage::Done).map_err(io),
        Ask::Room { bytes: Some(bytes) } => done(images::data::require_space(&folder.join(DATA), bytes)),
        Ask::Room { bytes: None } => done(images::data::require_room_in(folder)),
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
