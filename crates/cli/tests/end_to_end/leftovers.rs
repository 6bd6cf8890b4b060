//! What a run leaves on its host: processes, locks, mounts, loop devices, sockets, control groups, and files outside
//! its record.
//!
//! Whatever belongs to a run is recognised by the folder of its place or by the name of its study, which no other run has. They
//! occur in command lines, environments, working folders and mounts. Network interfaces are ignored, since a run makes none.

use crate::running::{Started, a_moment};
use crate::setting::{Place, text};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The kernel ends processes whose parent is gone, and releases what they held, within this time.
const GONE_LIMIT: Duration = Duration::from_mins(1);

/// Searches for leftovers of the runs of one place.
pub struct Leftovers<'p> {
    place: &'p Place,
    marks: Vec<String>,
    /// Process numbers of the runs started here, since control groups are named after them.
    owners: BTreeSet<u32>,
    started: BTreeSet<Started>,
}

impl<'p> Leftovers<'p> {
    pub fn of(place: &'p Place) -> Self {
        let folder = place.folder.path().to_string_lossy().into_owned();
        let study = place.study().trim_end_matches(".toml").to_owned();
        Self { place, marks: vec![folder, study], owners: BTreeSet::new(), started: BTreeSet::new() }
    }

    /// From now on, what this run made is searched for, too.
    pub fn watch(&mut self, running: &crate::running::Running) {
        self.owners.insert(running.id());
        self.started.extend(running.started());
    }

    /// Things that only the kernel can undo when a run is killed, and must.
    pub fn alive(&self) -> Vec<String> {
        let started = self.started.iter().filter(|process| process.is_running());
        let started = started.map(|process| format!("process {} that the run started", process.pid));
        started.chain(self.processes()).chain(self.locks()).chain(self.mounts()).chain(self.sockets()).collect()
    }

    /// Things that a run removes when it ends; for a killed run, the next one does.
    pub fn kept(&self) -> Vec<String> {
        let cache = self.place.cache();
        let in_scratch = entries(&cache.join("scratch")).into_iter().filter(|path| self.is_marked(&shown(path)));
        let half_made = files_below(self.place.folder.path()).into_iter().filter(|path| is_half_made(path));
        let temporary = entries(&self.place.temporary());
        in_scratch.chain(half_made).chain(temporary).chain(self.cgroups()).map(|path| shown(&path)).collect()
    }

    /// Fails if anything is still alive once the kernel is done.
    pub fn none_alive(&self) {
        let deadline = Instant::now() + GONE_LIMIT;
        // There is no event for what the kernel does to other processes.
        while !self.alive().is_empty() {
            assert!(Instant::now() < deadline, "left alive: {:#?}", self.alive());
            a_moment();
        }
    }

    /// Fails if anything is left.
    pub fn none(&self) {
        self.none_alive();
        assert_eq!(self.kept(), Vec::<String>::new());
    }

    fn is_marked(&self, words: &str) -> bool {
        self.marks.iter().any(|mark| words.contains(mark))
    }

    fn processes(&self) -> Vec<String> {
        let folders = entries(Path::new("/proc"));
        let numbers = folders.iter().filter_map(|path| path.file_name()?.to_str()?.parse::<u32>().ok());
        let others = numbers.filter(|process| *process != std::process::id());
        others.filter_map(|process| self.why_ours(process).map(|why| format!("process {process}: {why}"))).collect()
    }

    /// The command line of a process, if it belongs to a run of this place.
    fn why_ours(&self, process: u32) -> Option<String> {
        let read = |name: &str| text(&fs::read(format!("/proc/{process}/{name}")).unwrap_or_default());
        let words = read("cmdline");
        let folder = fs::read_link(format!("/proc/{process}/cwd")).map(|path| shown(&path)).unwrap_or_default();
        let is_ours = self.is_marked(&words) || self.is_marked(&folder) || self.is_marked(&read("environ"));
        // Names in a namespace of its own prove nothing, but its mounts do.
        let is_ours = is_ours || read("mountinfo").lines().any(|mount| self.is_our_mount(mount));
        // A process that has ended but was not waited for has no command line.
        (is_ours && !words.is_empty()).then(|| words.replace('\0', " "))
    }

    /// A mount of a folder of ours, or of a loop device over a file of ours.
    fn is_our_mount(&self, mount: &str) -> bool {
        let source = mount.split_once(" - ").and_then(|(_, source)| source.split(' ').nth(1)).unwrap_or_default();
        let device = source.strip_prefix("/dev/").unwrap_or_default();
        let is_loop = device.starts_with("loop") && self.is_marked(&backing_file(device));
        is_loop || self.is_marked(mount)
    }

    fn mounts(&self) -> Vec<String> {
        let ours = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mounts = ours.lines().filter(|mount| self.is_our_mount(mount)).map(|mount| format!("mount {mount}"));
        let devices = entries(Path::new("/sys/block"));
        let devices = devices.iter().filter_map(|path| path.file_name()?.to_str());
        let devices = devices.filter(|device| self.is_marked(&backing_file(device)));
        mounts.chain(devices.map(|device| format!("loop device {device} over {}", backing_file(device)))).collect()
    }

    /// Locks on files of the place, or of the run's scratch folders, whoever holds them.
    fn locks(&self) -> Vec<String> {
        let scratch = entries(&self.place.cache().join("scratch"));
        let scratch = scratch.iter().filter(|path| self.is_marked(&shown(path))).flat_map(|path| files_below(path));
        let files = files_below(self.place.folder.path()).into_iter().chain(scratch);
        let files: Vec<_> = files.filter_map(|path| Some((fs::metadata(&path).ok()?.ino(), path))).collect();
        let table = fs::read_to_string("/proc/locks").unwrap_or_default();
        // "1: FLOCK ADVISORY WRITE 4711 fe:01:131089 0 EOF"
        let locked: BTreeSet<u64> = table
            .lines()
            .filter_map(|line| line.split_whitespace().find(|word| word.matches(':').count() == 2)?.rsplit(':').next())
            .filter_map(|inode| inode.parse().ok())
            .collect();
        let held = files.into_iter().filter(|(inode, _)| locked.contains(inode));
        held.map(|(_, path)| format!("lock on {}", path.display())).collect()
    }

    fn sockets(&self) -> Vec<String> {
        let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
        table.lines().filter(|line| self.is_marked(line)).map(|line| format!("socket {line}")).collect()
    }

    fn cgroups(&self) -> Vec<PathBuf> {
        let prefixes: Vec<_> = self.owners.iter().map(|owner| format!("bakeoff-{owner}-")).collect();
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            prefixes.iter().any(|prefix| name.starts_with(prefix))
        };
        folders_below(Path::new("/sys/fs/cgroup")).into_iter().filter(is_ours).collect()
    }
}

fn is_half_made(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "partial" || ending == "building")
}

fn backing_file(device: &str) -> String {
    fs::read_to_string(format!("/sys/block/{device}/loop/backing_file")).unwrap_or_default()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The entries of a folder; empty if it does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Folders below a folder, without following links.
fn folders_below(folder: &Path) -> Vec<PathBuf> {
    let folders = entries(folder).into_iter().filter(|path| path.is_dir() && !path.is_symlink());
    folders.flat_map(|path| [vec![path.clone()], folders_below(&path)].concat()).collect()
}

/// Everything below a folder except finished folders: files and half-made folders.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let all = [vec![folder.to_owned()], folders_below(folder)].concat();
    all.iter().flat_map(|folder| entries(folder)).filter(|path| !path.is_dir() || is_half_made(path)).collect()
}
