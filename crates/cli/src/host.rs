//! This host, as a place for runs: folders, CPUs, memory.

use crate::exit::Ended;
use crate::origin;
use anyhow::{Context, Result};
use std::path::PathBuf;
use trial::site::Site;

/// Where images, loaded data and remembered probes are kept: `BAKEOFF_CACHE`, or the user's cache folder.
pub fn cache_folder() -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("BAKEOFF_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|cache| cache.join("bakeoff")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/bakeoff")))
        .ok_or_else(|| {
            Ended::host("neither BAKEOFF_CACHE, XDG_CACHE_HOME nor HOME is set: there is no place for images")
        })?;
    std::fs::create_dir_all(&folder).with_context(|| format!("making the cache folder {}", folder.display()))?;
    // Machines are started from other working directories.
    folder.canonicalize().with_context(|| format!("finding the cache folder {}", folder.display()))
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

pub fn site() -> Result<Site> {
    let cache = cache_folder()?;
    let scratch = cache.join("scratch");
    std::fs::create_dir_all(&scratch).with_context(|| format!("making {}", scratch.display()))?;
    let agent = std::env::current_exe().context("finding this program's own file, the agent of every machine")?;
    let made_by = origin::made_by();
    Ok(Site { cache, scratch, agent, cpus: cpus()?, memory_bytes: memory_bytes(), made_by })
}
