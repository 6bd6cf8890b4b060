//! Control groups: which hierarchy is mounted, and what CPU and memory it leaves to this process.
//!
//! Any group above our own may have a limit too, so the tightest one on the way up counts.

use crate::Readings;
use crate::mounts::{self, Mount};
use crate::tree::{Tree, TreeReading};
use std::path::{Path, PathBuf};

const UNLIMITED: &str = "unlimited";

/// Version 1 writes "no limit" as the largest number of bytes in whole pages; any value near it means the same.
const VERSION_1_UNLIMITED_BYTES: u64 = 1 << 62;

pub fn facts(tree: &Tree) -> Readings {
    let groups = Groups::read(tree);
    let limit = |of: fn(&Groups, &Tree) -> TreeReading| groups.as_ref().map_err(Clone::clone).and_then(|g| of(g, tree));
    vec![
        ("cgroup.mode", groups.as_ref().map(Groups::mode).map_err(Clone::clone)),
        ("cgroup.path", limit(|groups, _| groups.path())),
        ("cgroup.memory_max_bytes", limit(Groups::memory_max)),
        ("cgroup.memory_high_bytes", limit(Groups::memory_high)),
        ("cgroup.cpus_max", limit(Groups::cpus_max)),
        ("cgroup.cpu_weight", limit(Groups::cpu_weight)),
        ("cgroup.io_max", limit(Groups::io_max)),
    ]
}

pub struct Groups {
    mounts: Vec<Mount>,
    /// Lines of `/proc/PID/cgroup`: controllers, path.
    ours: Vec<(String, PathBuf)>,
}

impl Groups {
    fn read(tree: &Tree) -> Result<Self, String> {
        Self::of(tree, "self")
    }

    /// The groups of a process, as this process sees them.
    pub fn of_process(tree: &Tree, process: u32) -> Result<Self, String> {
        Self::of(tree, &process.to_string())
    }

    fn of(tree: &Tree, process: &str) -> Result<Self, String> {
        let mounts = mounts::parse(&tree.text("/proc/self/mountinfo")?);
        let mounts: Vec<Mount> =
            mounts.into_iter().filter(|mount| matches!(mount.file_system.as_str(), "cgroup" | "cgroup2")).collect();
        if mounts.is_empty() {
            return Err("no control group file system is mounted".to_owned());
        }
        Ok(Self { mounts, ours: parse_ours(&tree.text(&format!("/proc/{process}/cgroup"))?) })
    }

    fn has(&self, file_system: &str) -> bool {
        self.mounts.iter().any(|mount| mount.file_system == file_system)
    }

    fn mode(&self) -> String {
        match (self.has("cgroup"), self.has("cgroup2")) {
            (true, true) => "version 1, with version 2 beside it",
            (true, false) => "version 1",
            (false, _) => "version 2",
        }
        .to_owned()
    }

    fn path(&self) -> TreeReading {
        let controllers = if self.has("cgroup") { "memory" } else { "" };
        let ours = self.path_of(controllers).ok_or_else(|| "this process is in no such group".to_owned())?;
        Ok(ours.display().to_string())
    }

    /// Our path in the hierarchy of a version 1 controller; for "", our path in that of version 2.
    fn path_of(&self, controller: &str) -> Option<&Path> {
        let ours = self.ours.iter().find(|(controllers, _)| controllers.split(',').any(|one| one == controller));
        ours.map(|(_, path)| path.as_path())
    }

    /// The hierarchy that has the `controller`.
    fn mount_of(&self, controller: &str) -> Option<(Version, &Mount)> {
        let is_version_1 =
            |mount: &&Mount| mount.file_system == "cgroup" && mount.options.iter().any(|option| option == controller);
        let version_1 = self.mounts.iter().find(is_version_1).map(|mount| (Version::One, mount));
        version_1.or_else(|| Some((Version::Two, self.mounts.iter().find(|mount| mount.file_system == "cgroup2")?)))
    }

    /// Our folder and those above it, innermost first, in the hierarchy that has the `controller`.
    fn folders(&self, controller: &str) -> Option<(Version, Vec<PathBuf>)> {
        let (version, mount) = self.mount_of(controller)?;
        let ours = self.path_of(if version == Version::One { controller } else { "" })?;
        let below = ours.strip_prefix(&mount.root).or_else(|_| ours.strip_prefix("/")).ok()?;
        let inner = mount.point.join(below);
        let folders = inner.ancestors().take_while(|folder| folder.starts_with(&mount.point));
        Some((version, folders.map(Path::to_path_buf).collect()))
    }

    /// Whether the hierarchy of CPU time is mounted as a whole, so that no group above ours is missing.
    pub fn has_whole_cpu_tree(&self) -> bool {
        self.mount_of("cpu").is_some_and(|(_, mount)| mount.root == Path::new("/"))
    }

    /// The folders that control the CPU time of the group and of those above it, innermost first.
    pub fn cpu_folders(&self) -> Result<Vec<PathBuf>, String> {
        let (_, folders) = self.folders("cpu").ok_or("no cpu controller is mounted")?;
        Ok(folders)
    }

    fn memory_max(&self, tree: &Tree) -> TreeReading {
        let (version, folders) = self.folders("memory").ok_or("no memory controller is mounted")?;
        let file = match version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        let limits = folders.iter().filter_map(|folder| tree.value(&format!("{}/{file}", folder.display())).ok());
        let tightest = limits.filter_map(|limit| memory_limit(&limit)).min();
        Ok(tightest.map_or(UNLIMITED.to_owned(), |bytes| bytes.to_string()))
    }

    /// The amount above which the group is slowed down instead of stopped; version 1 has no such limit.
    fn memory_high(&self, tree: &Tree) -> TreeReading {
        let (version, folders) = self.folders("memory").ok_or("no memory controller is mounted")?;
        if version == Version::One {
            return Ok(UNLIMITED.to_owned());
        }
        let limits = folders.iter().filter_map(|folder| tree.value(&format!("{}/memory.high", folder.display())).ok());
        let tightest = limits.filter_map(|limit| memory_limit(&limit)).min();
        Ok(tightest.map_or(UNLIMITED.to_owned(), |bytes| bytes.to_string()))
    }

    /// The group's share of contended CPUs, relative to its neighbours. The default is 100, in version 1 1,024.
    fn cpu_weight(&self, tree: &Tree) -> TreeReading {
        let (version, folders) = self.folders("cpu").ok_or("no cpu controller is mounted")?;
        let file = match version {
            Version::One => "cpu.shares",
            Version::Two => "cpu.weight",
        };
        // The root group has none.
        let own = folders.iter().find_map(|folder| tree.value(&format!("{}/{file}", folder.display())).ok());
        own.ok_or_else(|| format!("no group around this process has {file}"))
    }

    /// Limits of operations and bytes of all groups around us, as the kernel writes them, with the device's number.
    fn io_max(&self, tree: &Tree) -> TreeReading {
        // Version 2 names it differently, but has all controllers in one hierarchy.
        let (version, folders) = self.folders("blkio").ok_or("no controller of storage is mounted")?;
        let files: &[&str] = match version {
            Version::One => &["read_bps", "write_bps", "read_iops", "write_iops"],
            Version::Two => &["io.max"],
        };
        let mut found = Vec::new();
        for (folder, file) in folders.iter().flat_map(|folder| files.iter().map(move |file| (folder, file))) {
            let (path, prefix) = match version {
                Version::One => (format!("{}/blkio.throttle.{file}_device", folder.display()), format!("{file} ")),
                Version::Two => (format!("{}/{file}", folder.display()), String::new()),
            };
            let text = tree.text(&path).unwrap_or_default();
            found.extend(text.lines().map(|line| format!("{prefix}{line}")));
        }
        Ok(if found.is_empty() { UNLIMITED.to_owned() } else { found.join("; ") })
    }

    fn cpus_max(&self, tree: &Tree) -> TreeReading {
        let (version, folders) = self.folders("cpu").ok_or("no cpu controller is mounted")?;
        let limits = folders.iter().filter_map(|folder| {
            let value = |file: &str| tree.value(&format!("{}/{file}", folder.display())).ok();
            let limit = match version {
                Version::One => format!("{} {}", value("cpu.cfs_quota_us")?, value("cpu.cfs_period_us")?),
                Version::Two => value("cpu.max")?,
            };
            cpu_limit(&limit)
        });
        Ok(limits.reduce(f64::min).map_or(UNLIMITED.to_owned(), |cpus| format!("{cpus:.2}")))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

fn parse_ours(text: &str) -> Vec<(String, PathBuf)> {
    let lines = text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    lines.map(|(controllers, path)| (controllers.to_owned(), PathBuf::from(path))).collect()
}

/// The limit in bytes, or `None` for no limit.
fn memory_limit(text: &str) -> Option<u64> {
    text.parse().ok().filter(|bytes| *bytes < VERSION_1_UNLIMITED_BYTES)
}

/// The limit in CPUs, from "quota period" in microseconds; `None` for no limit ("max", or -1 in version 1).
fn cpu_limit(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let quota = quota.parse::<u32>().ok()?;
    let period = period.trim().parse::<u32>().ok().filter(|period| *period > 0)?;
    Some(f64::from(quota) / f64::from(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_no_limit_are_no_limit() {
        assert_eq!(memory_limit("max"), None);
        assert_eq!(memory_limit("9223372036854771712"), None);
        assert_eq!(memory_limit("1073741824"), Some(1 << 30));
        assert_eq!(cpu_limit("max 100000"), None);
        assert_eq!(cpu_limit("-1 100000"), None);
        assert_eq!(cpu_limit("150000 100000"), Some(1.5));
    }

    #[test]
    fn controllers_may_share_a_line() {
        let ours = parse_ours("4:cpu,cpuacct:/a/b\n0::/c\n");
        let groups = Groups { mounts: Vec::new(), ours };
        assert_eq!(groups.path_of("cpuacct"), Some(Path::new("/a/b")));
        assert_eq!(groups.path_of(""), Some(Path::new("/c")));
        assert_eq!(groups.path_of("memory"), None);
    }
}
