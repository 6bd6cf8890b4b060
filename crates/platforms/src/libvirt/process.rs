//! The QEMU of a domain on this host: found by its UUID, which nobody else's command line has.
//!
//! libvirt keeps a file with its process id. That file outlives a libvirtd that was killed, and the number may have
//! passed to another process. So only the command line counts.

use super::rpc::procedures::Uuid;
use machines::identity::Identity;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const GROUPS: &str = "/sys/fs/cgroup";
/// Where libvirt makes groups, without and with systemd.
const BELOW: [&str; 2] = ["machine", "machine.slice"];
/// Groups lie at most this deep below a domain's own.
const DEPTH: usize = 3;

/// The process whose command line has this UUID, if it runs.
pub fn of_domain(uuid: Uuid) -> io::Result<Option<Identity>> {
    let wanted = format!("\0-uuid\0{uuid}\0").into_bytes();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        // Processes end while we look. The start time is read first: if the number passes on, it is another one.
        let Ok(identity) = Identity::of(pid) else { continue };
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if words.windows(wanted.len()).any(|part| part == wanted) && identity.is_alive() {
            return Ok(Some(identity));
        }
    }
    Ok(None)
}

/// Its command line.
pub fn words(process: u32) -> io::Result<Vec<String>> {
    let bytes = fs::read(format!("/proc/{process}/cmdline"))?;
    let words = bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut words: Vec<String> = words.collect();
    if words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    Ok(words)
}

/// Removes the empty control groups of a domain with this name. libvirt does so itself, unless it was killed.
pub fn remove_groups(name: &str) {
    let trees = fs::read_dir(GROUPS).into_iter().flatten().flatten().map(|tree| tree.path());
    let trees: Vec<PathBuf> = trees.chain([GROUPS.into()]).collect();
    // libvirt writes some characters of a name as "\x2d".
    let escaped = name.replace('-', r"\x2d");
    for parent in trees.iter().flat_map(|tree| BELOW.map(|below| tree.join(below))) {
        for group in fs::read_dir(parent).into_iter().flatten().flatten() {
            let text = group.file_name().to_string_lossy().into_owned();
            if text.contains(name) || text.contains(&escaped) {
                remove_empty(&group.path(), DEPTH);
            }
        }
    }
}

/// The kernel removes only groups without processes, so nothing that runs is harmed.
fn remove_empty(group: &Path, depth: usize) {
    let children = fs::read_dir(group).into_iter().flatten().flatten().map(|child| child.path());
    for child in children.filter(|child| depth > 0 && child.is_dir()) {
        remove_empty(&child, depth - 1);
    }
    let _ = fs::remove_dir(group);
}

#[cfg(test)]
mod tests {
    use super::*;
    use machines::process::{Launch, Process};
    use std::time::{Duration, Instant};

    #[test]
    fn a_process_is_found_by_its_uuid_and_no_other() {
        let uuid = Uuid::of_random(machines::token::random_bytes().unwrap());
        assert_eq!(of_domain(uuid).unwrap(), None);
        // It waits without a child, which would have its words, too, until it becomes another program.
        let words = ["sh", "-c", "kill -STOP $$", "qemu", "-uuid", &uuid.to_string(), "-end"];
        let process = Process::start(Launch::new(&words)).unwrap();
        let deadline = Instant::now() + Duration::from_mins(1);
        // At first it is another program, with the same words at the end.
        while super::words(process.identity().pid).unwrap() != words {
            assert!(Instant::now() < deadline);
        }
        assert_eq!(of_domain(uuid).unwrap(), Some(process.identity()));
        drop(process);
        assert_eq!(of_domain(uuid).unwrap(), None);
    }
}
