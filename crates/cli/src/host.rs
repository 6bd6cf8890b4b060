//! This host as a place for runs: folders that only we may write, limits, CPUs, memory.

use crate::exit::EndedWith;
use anyhow::{Context, Result};
use machines::owned::{self, ForeignError};
use platforms::credentials::Credentials;
use record::plan::Plan;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit, umask};
use settings::Bytes;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, io};
use trial::queue::Queue;

/// How deep the cache is checked: down to an image's tree and a data disk's file. It is not checked within the tree,
/// where a guest's own users may write.
const CACHE_LEVELS: u32 = 3;
/// Down to the folder of a trial.
const RUN_LEVELS: u32 = 2;

/// Sets up this process and everything that it starts.
pub fn begin() {
    // Only we may write what we create, and we always may; whether others may read it is the caller's choice.
    let asked = umask(Mode::empty());
    umask(asked.difference(Mode::RWXU) | Mode::WGRP | Mode::WOTH);
    // Handling this signal turns the file size limit into an error that we can report. Only forbidden signals fail to register.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
    // Each session needs a descriptor. The kernel refuses an unlimited number, and then nothing changes.
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
}

/// Signals that ask this program to end: of Ctrl-C, of a service manager, and of a closed terminal, unless `nohup` ignores it.
pub fn ending_signals() -> io::Result<Signals> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let hangs_up = ignored.unwrap_or_default() & (1 << (SIGHUP - 1)) == 0;
    Signals::new([SIGINT, SIGTERM].into_iter().chain(hangs_up.then_some(SIGHUP)))
}

fn foreign(what: &str, error: &ForeignError) -> anyhow::Error {
    EndedWith::host(format!("{what}: {error}")).into()
}

/// Fails unless a run can be begun in this folder, or resumed if it is a run's own, without trusting other users.
pub fn require_own_runs(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let is_run = record::folder::RunFolder::is_at(folder);
    let required = if is_run { owned::require_whole(folder, RUN_LEVELS) } else { owned::require_or_shared(folder) };
    required.map_err(|error| foreign("the folder of runs is not ours alone", &error))
}

/// Fails if a file may not become as large as the disks in the plan.
pub fn require_large_files(plan: &Plan) -> Result<(), EndedWith> {
    let needed = plan.cells.iter().filter_map(|cell| cell.settings.machine().disk_bytes).max().unwrap_or(0);
    match machines::limits::file_bytes().filter(|limit| *limit < needed) {
        None => Ok(()),
        Some(limit) => {
            let (needed, limit) = (Bytes(needed), Bytes(limit));
            Err(EndedWith::host(format!(
                "the data disk is a file of {needed}, and no file may be larger than {limit} here; ulimit -f raises that limit"
            )))
        }
    }
}

/// The folder for images, loaded data and remembered probes: `BAKEOFF_CACHE`, or the user's cache folder.
pub fn cache_folder() -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("BAKEOFF_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("bakeoff")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/bakeoff")))
        .ok_or_else(|| {
            EndedWith::host("neither BAKEOFF_CACHE, XDG_CACHE_HOME nor HOME is set: there is no place for images")
        })?;
    std::fs::create_dir_all(&folder).with_context(|| format!("making the cache folder {}", folder.display()))?;
    // Machines are started from other working directories.
    let folder = folder.canonicalize().with_context(|| format!("finding the cache folder {}", folder.display()))?;
    let is_ours = owned::require_above(&folder).and_then(|()| owned::require_whole(&folder, CACHE_LEVELS));
    is_ours.map_err(|error| foreign("the cache is not ours alone (BAKEOFF_CACHE names another)", &error))?;
    Ok(folder)
}

/// The name of the queue in which runs measure one after another; `None` for the queue of all runs of this host.
pub fn queue_name() -> Option<String> {
    std::env::var("BAKEOFF_QUEUE").ok().filter(|name| !name.is_empty())
}

pub fn queue() -> Result<Queue> {
    Ok(Queue::named(queue_name().as_deref())
        .map_err(|error| EndedWith::bad_input(format!("the variable BAKEOFF_QUEUE: {error}")))?)
}

/// CPUs that this process may use, in order.
pub fn cpus() -> Result<Vec<usize>> {
    let allowed = rustix::thread::sched_getaffinity(None).context("reading which CPUs this process may use")?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect())
}

pub fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    u64::from(info.mem_unit) * info.totalram
}

/// What platforms of other hosts log in with.
pub fn credentials() -> Credentials {
    Credentials::of(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}
