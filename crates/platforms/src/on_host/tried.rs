//! Each thing that a machine on this host's kernel needs of the host, tried on nothing: limits on a group without processes, a mount
//! of a small disk.

use super::data::{DataPlace, cached_behind_a_loop, text, why_not_mounted};
use crate::ahead::Ahead;
use crate::rights;
use images::data::make_from_folder;
use machines::boot::DataTuning;
use machines::cgroup::{Cgroups, CpuQuota, Limit};
use machines::machine::Decisions;
use machines::process::Launch;
use machines::scratch::Scratch;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A limit for a group that stays empty.
const TRIED_BYTES: u64 = 64 << 20;
/// Most of it takes no room.
const DISK_BYTES: u64 = 64 << 20;
const MOUNT_LIMIT: Duration = Duration::from_secs(30);

/// The answers of this host, each with its reason if it is no.
#[derive(Debug, Clone)]
pub struct HostTrial {
    pub memory: Result<String, String>,
    pub cpu_time: Result<String, String>,
    pub memory_nodes: Result<String, String>,
    pub open_files: u64,
    /// Whether a disk can be mounted; then, whether the host's page cache holds its data again.
    pub disk: Result<String, String>,
}

pub fn on_this_host(cache: &Path) -> HostTrial {
    let open_files = rights::open_files();
    let scratch = Scratch::create(&cache.join("scratch"), &format!("tried-{}", std::process::id()));
    let scratch = match &scratch {
        Ok(scratch) => scratch.path(),
        Err(error) => {
            let [memory, cpu_time, memory_nodes, disk] = [(); 4].map(|()| Err(error.to_string()));
            return HostTrial { memory, cpu_time, memory_nodes, open_files, disk };
        }
    };
    let limits = [Limit::MemoryBytes(TRIED_BYTES), Limit::CpuTime(CpuQuota::of_cpus(1.0)), Limit::MemoryNodes(vec![0])];
    let mut held = Cgroups::hold("limits", scratch, &limits).1.into_iter();
    let mut next = || held.next().unwrap_or_else(|| Err("it was not tried".to_owned()));
    let [memory, cpu_time, by_group] = [next(), next(), next()];
    let by_policy =
        |why| rights::binding_refused("0").map_or(Ok("0".to_owned()), |error| Err(format!("{why}; {error}")));
    HostTrial { memory, cpu_time, memory_nodes: by_group.or_else(by_policy), open_files, disk: mounted(scratch) }
}

/// The facts about a machine on this host's kernel that are known before it starts.
pub(crate) fn foreseen(ahead: &Ahead<'_>) -> Decisions {
    let tried = ahead.tried.get_or_init(|| on_this_host(ahead.cache));
    let mut facts = ahead.placed();
    let mut say = |name: &str, value: Result<String, String>| facts.insert(name.to_owned(), value);
    say("limits.open_files", Ok(tried.open_files.to_string()));
    say("kernel.release", Ok(rustix::system::uname().release().to_string_lossy().into_owned()));
    say("memory limit", tried.memory.clone().map(|_| format!("{} bytes", ahead.memory_bytes)));
    if let Some(nodes) = ahead.nodes() {
        say("memory node", tried.memory_nodes.clone().map(|_| nodes));
    }
    say("data", tried.disk.clone().map(|_| ahead.disk()));
    if let Ok(cached_twice) = tried.disk.clone() {
        say("data cached twice", Ok(if ahead.device.is_some() { "no".to_owned() } else { cached_twice }));
    }
    facts
}

/// Mounts a disk in the way in which a machine does, in a mount namespace of its own.
fn mounted(scratch: &Path) -> Result<String, String> {
    let (content, folder, image) = (scratch.join("content"), scratch.join("disk"), scratch.join("disk.img"));
    for folder in [&content, &folder] {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    make_from_folder(&content, &image, DISK_BYTES, "bakeoff-tried").map_err(|error| error.to_string())?;
    if let Some(error) = rights::mounting_refused() {
        return Err(error.to_string());
    }
    let answer = scratch.join("disk-source");
    let read =
        ["sh", "-c", "cat /sys/class/block/$(basename $(cat \"$0\"))/loop/dio", &text(&answer)].map(str::to_owned);
    let disk = DataPlace::Disk { path: image, is_device: false, tuning: DataTuning::default(), folder, answer };
    let words: Vec<String> =
        rights::MOUNTING.map(str::to_owned).into_iter().chain(disk.mount_words()).chain(read).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ended = Launch::new(&words).run_to_any_end(MOUNT_LIMIT, &mut |_| ()).map_err(|error| error.to_string())?;
    if !ended.status.success() {
        return Err(why_not_mounted(&ended.stderr).replace(&format!("{}/", scratch.display()), ""));
    }
    Ok(cached_behind_a_loop(ended.stdout.trim() == "1"))
}
