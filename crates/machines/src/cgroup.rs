//! A cgroup that holds a machine to its memory, where one can be had.
//!
//! Both versions of the interface are in use: one tree for everything (v2), or one for each resource (v1), sometimes side
//! by side. A cgroup is made below or beside our own, wherever we are allowed to and memory is accounted for. What is
//! swapped out would escape the limit, so swap is forbidden as well where the kernel has a word for it.

use crate::process::Identity;
use crate::scratch::{ScratchError, record_cgroup};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Killed processes leave their cgroup within this.
const EMPTY_LIMIT: Duration = Duration::from_secs(5);
const EMPTY_POLL: Duration = Duration::from_millis(5);

/// A cgroup with a limit. Dropping it ends what is still in it and removes it.
#[derive(Debug)]
pub struct Cgroup {
    path: PathBuf,
}

/// A tree of cgroups that accounts for memory.
#[derive(Debug, PartialEq, Eq)]
struct Hierarchy {
    is_unified: bool,
    mounted_at: PathBuf,
    /// Our own place in it.
    own: PathBuf,
}

impl Cgroup {
    /// Makes a cgroup that holds whoever joins it to `memory_bytes`, and writes it down in the ledger of `scratch`. The
    /// error says why none can be had.
    pub fn with_memory(name: &str, memory_bytes: u64, scratch: &Path) -> Result<Self, String> {
        let hierarchy = hierarchy()?;
        let mut why = "no place for one was found".to_owned();
        for parent in hierarchy.parents() {
            let path = parent.join(format!("bakeoff-{}-{name}", std::process::id()));
            match Self::make(&path, hierarchy.is_unified, memory_bytes, scratch) {
                Ok(cgroup) => return Ok(cgroup),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    fn make(path: &Path, is_unified: bool, memory_bytes: u64, scratch: &Path) -> Result<Self, String> {
        let failing = |error: io::Error| format!("{}: {error}", path.display());
        if is_unified {
            let parent = path.parent().unwrap_or(Path::new("/"));
            let passed_on = fs::read_to_string(parent.join("cgroup.subtree_control")).map_err(failing)?;
            if !passed_on.split_ascii_whitespace().any(|controller| controller == "memory") {
                return Err(format!("{} does not account for memory", parent.display()));
            }
        }
        fs::create_dir(path).map_err(failing)?;
        let cgroup = Self { path: path.to_owned() };
        record_cgroup(scratch, path).map_err(|error: ScratchError| error.to_string())?;
        let (limit, swap, no_swap) = if is_unified {
            ("memory.max", "memory.swap.max", 0)
        } else {
            ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", memory_bytes)
        };
        fs::write(path.join(limit), memory_bytes.to_string()).map_err(failing)?;
        if path.join(swap).exists() {
            fs::write(path.join(swap), no_swap.to_string()).map_err(failing)?;
        }
        Ok(cgroup)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The limit as the kernel has it, in whole pages.
    pub fn memory_bytes(&self) -> io::Result<u64> {
        let files = ["memory.max", "memory.limit_in_bytes"].map(|name| self.path.join(name));
        let file = files.iter().find(|file| file.exists()).unwrap_or(&files[0]);
        fs::read_to_string(file)?.trim().parse().map_err(io::Error::other)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // It is in the ledger: what cannot be removed now is found by the next sweep.
        let _ = remove(&self.path);
    }
}

/// Ends what is in a cgroup of ours, removes it and says whether there was one.
pub(crate) fn remove(path: &Path) -> io::Result<bool> {
    let deadline = Instant::now() + EMPTY_LIMIT;
    loop {
        match fs::remove_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline => {}
            removed => return removed.map(|()| true),
        }
        let members = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
        for pid in members.lines().filter_map(|line| line.parse().ok()) {
            if let Ok(member) = Identity::of(pid) {
                member.kill()?;
            }
        }
        std::thread::sleep(EMPTY_POLL);
    }
}

/// Where memory is accounted for on this host.
fn hierarchy() -> Result<Hierarchy, String> {
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let (mounts, own) = (read("/proc/self/mountinfo")?, read("/proc/self/cgroup")?);
    find_hierarchy(&mounts, &own).ok_or_else(|| "no cgroup tree that accounts for memory is mounted".to_owned())
}

/// v1's memory tree if there is one: a v2 tree beside it does not have memory then.
fn find_hierarchy(mounts: &str, own: &str) -> Option<Hierarchy> {
    let mounted = |kind: &str, option: &str| {
        mounts.lines().find_map(|line| {
            let (place, system) = line.split_once(" - ")?;
            let mut system = system.split(' ');
            let is_it = system.next() == Some(kind) && system.nth(1)?.split(',').any(|word| word == option);
            let mounted_at = place.split(' ').nth(4)?;
            (is_it || (option.is_empty() && line.contains(&format!(" - {kind} ")))).then(|| PathBuf::from(mounted_at))
        })
    };
    let own_place = |controller: &str| {
        own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (number, controllers, place) = (fields.next()?, fields.next()?, fields.next()?);
            let is_it = if controller.is_empty() {
                number == "0" && controllers.is_empty()
            } else {
                controllers.split(',').any(|name| name == controller)
            };
            is_it.then(|| PathBuf::from(place.trim_start_matches('/')))
        })
    };
    let found = |is_unified, mounted_at: Option<PathBuf>, own: Option<PathBuf>| {
        Some(Hierarchy { is_unified, mounted_at: mounted_at?, own: own? })
    };
    found(false, mounted("cgroup", "memory"), own_place("memory"))
        .or_else(|| found(true, mounted("cgroup2", ""), own_place("")))
}

impl Hierarchy {
    /// Places to try, nearest first. In v2 a cgroup with processes of its own cannot pass memory on, so ours is left out.
    fn parents(&self) -> Vec<PathBuf> {
        let skipped = usize::from(self.is_unified);
        self.own
            .ancestors()
            .skip(skipped)
            .map(|place| self.mounted_at.join(place))
            .filter(|place| place.is_dir())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Cgroup, Hierarchy, find_hierarchy};
    use crate::process::{Launch, Process};
    use std::time::Duration;

    const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn the_tree_with_memory_is_found_in_both_versions() {
        let own = "9:name=systemd:/\n4:memory:/a/b\n1:cpu,cpuacct:/\n0::/\n";
        let first = find_hierarchy(V1, own).unwrap();
        let expected = Hierarchy { is_unified: false, mounted_at: "/sys/fs/cgroup/memory".into(), own: "a/b".into() };
        assert_eq!(first, expected);
        let second = find_hierarchy(V2, "0::/user.slice/session.scope\n").unwrap();
        let own = "user.slice/session.scope".into();
        assert_eq!(second, Hierarchy { is_unified: true, mounted_at: "/sys/fs/cgroup".into(), own });
        assert_eq!(find_hierarchy("", "0::/\n"), None);
    }

    #[test]
    fn a_cgroup_holds_its_members_and_takes_them_along() {
        let scratch = tempfile::tempdir().unwrap();
        let cgroup = match Cgroup::with_memory("test", 64 << 20, scratch.path()) {
            Ok(cgroup) => cgroup,
            Err(why) => {
                println!("SKIPPED: no cgroup can be had here: {why}");
                return;
            }
        };
        assert_eq!(cgroup.memory_bytes().unwrap(), 64 << 20);
        let procs = cgroup.path().join("cgroup.procs");
        let join = format!("echo $$ > {}; exec sleep 1000", procs.display());
        let mut member = Process::start(Launch::new(&["sh", "-c", &join])).unwrap();
        let path = cgroup.path().to_owned();
        while std::fs::read_to_string(&procs).unwrap().is_empty() {
            assert!(member.wait(Duration::from_millis(1)).unwrap().is_none(), "the member could not join");
        }
        drop(cgroup);
        assert!(!path.exists());
        assert!(member.wait(Duration::from_mins(1)).unwrap().is_some());
    }
}
