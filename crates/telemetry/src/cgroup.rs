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
    let groups = Groups::read(tree, "self");
    let limit = |of: fn(&Groups, &Tree) -> TreeReading| groups.as_ref().map_err(Clone::clone).and_then(|g| of(g, tree));
    vec![
        ("cgroup.mode", groups.as_ref().map(Groups::mode).map_err(Clone::clone)),
        ("cgroup.path", limit(|groups, _| groups.path())),
        ("cgroup.memory_max_bytes", limit(|groups, tree| groups.memory(tree, "memory.max"))),
        ("cgroup.memory_high_bytes", limit(|groups, tree| groups.memory(tree, "memory.high"))),
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

/// A mounted tree of control groups, and the place of a group in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// Whether it is the tree of version 2, which has all controllers.
    pub is_unified: bool,
    pub mounted_at: PathBuf,
    /// The group, below that folder.
    pub own: PathBuf,
    /// Whether a part of the tree is mounted without what lies above that part.
    is_part: bool,
}

impl Hierarchy {
    /// The tree with this controller on this host, and our own group.
    pub fn with(controller: &str) -> Result<Self, String> {
        Groups::read(&Tree::new(Path::new("/")), "self")?.hierarchy(controller)
    }

    /// The group's folder and those above it, innermost first.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        self.own.ancestors().map(|place| self.mounted_at.join(place))
    }

    /// The values of a file in the group and in those above it, as far as they have it.
    fn values(&self, tree: &Tree, file: &str) -> impl Iterator<Item = String> {
        self.folders().filter_map(move |folder| tree.value(&folder.join(file).display().to_string()).ok())
    }
}

impl Groups {
    /// The groups of a process, as this process sees them.
    pub fn of_process(tree: &Tree, process: u32) -> Result<Self, String> {
        Self::read(tree, &process.to_string())
    }

    fn read(tree: &Tree, process: &str) -> Result<Self, String> {
        Self::parse(&tree.text("/proc/self/mountinfo")?, tree.text(&format!("/proc/{process}/cgroup")))
    }

    fn parse(mounts: &str, ours: TreeReading) -> Result<Self, String> {
        let is_of_groups = |mount: &Mount| matches!(mount.file_system.as_str(), "cgroup" | "cgroup2");
        let mounts: Vec<Mount> = mounts::parse(mounts).into_iter().filter(is_of_groups).collect();
        if mounts.is_empty() {
            return Err("no control group file system is mounted".to_owned());
        }
        let ours = ours?;
        let lines = ours.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        Ok(Self { mounts, ours: lines.map(|(controllers, path)| (controllers.to_owned(), path.into())).collect() })
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

    /// The tree that has the controller. It is that of version 1 if there is one, because a tree of version 2 beside it lacks the
    /// controller then.
    fn hierarchy(&self, controller: &str) -> Result<Hierarchy, String> {
        let has_it =
            |mount: &&Mount| mount.file_system == "cgroup" && mount.options.iter().any(|word| word == controller);
        let version_1 = self.mounts.iter().find(has_it);
        let mount = version_1.or_else(|| self.mounts.iter().find(|mount| mount.file_system == "cgroup2"));
        let ours = self.path_of(if version_1.is_some() { controller } else { "" });
        let found = mount.zip(ours).and_then(|(mount, ours)| {
            let own = ours.strip_prefix(&mount.root).or_else(|_| ours.strip_prefix("/")).ok()?.to_owned();
            let (is_unified, is_part) = (version_1.is_none(), mount.root != Path::new("/"));
            Some(Hierarchy { is_unified, mounted_at: mount.point.clone(), own, is_part })
        });
        found.ok_or_else(|| format!("no control group tree with the {controller} controller is mounted"))
    }

    /// Whether the hierarchy of CPU time is mounted as a whole, so that no group above ours is missing.
    pub fn has_whole_cpu_tree(&self) -> bool {
        self.hierarchy("cpu").is_ok_and(|tree| !tree.is_part)
    }

    /// The folders that control the CPU time of the group and of those above it, innermost first.
    pub fn cpu_folders(&self) -> Result<Vec<PathBuf>, String> {
        Ok(self.hierarchy("cpu")?.folders().collect())
    }

    /// A limit of version 2. Version 1 has none above which the group is slowed down instead of stopped.
    fn memory(&self, tree: &Tree, limit: &str) -> TreeReading {
        let groups = self.hierarchy("memory")?;
        let file = match (groups.is_unified, limit) {
            (true, limit) => limit,
            (false, "memory.max") => "memory.limit_in_bytes",
            (false, _) => return Ok(UNLIMITED.to_owned()),
        };
        let tightest = groups.values(tree, file).filter_map(|limit| memory_limit(&limit)).min();
        Ok(tightest.map_or(UNLIMITED.to_owned(), |bytes| bytes.to_string()))
    }

    /// The group's share of contended CPUs, relative to its neighbours. The default is 100, in version 1 1,024.
    fn cpu_weight(&self, tree: &Tree) -> TreeReading {
        let groups = self.hierarchy("cpu")?;
        let file = if groups.is_unified { "cpu.weight" } else { "cpu.shares" };
        // The root group has none.
        groups.values(tree, file).next().ok_or_else(|| format!("no group around this process has {file}"))
    }

    /// Limits of operations and bytes of all groups around us, as the kernel writes them, with the device's number.
    fn io_max(&self, tree: &Tree) -> TreeReading {
        // Version 2 names the controller differently, but has all controllers in one hierarchy.
        let groups = self.hierarchy("blkio")?;
        let kinds =
            if groups.is_unified { &[""][..] } else { &["read_bps ", "write_bps ", "read_iops ", "write_iops "] };
        let mut found = Vec::new();
        for (folder, kind) in groups.folders().flat_map(|folder| kinds.iter().map(move |kind| (folder.clone(), kind))) {
            let file = if groups.is_unified {
                "io.max".to_owned()
            } else {
                format!("blkio.throttle.{}_device", kind.trim_end())
            };
            let text = tree.text(&folder.join(file).display().to_string()).unwrap_or_default();
            found.extend(text.lines().map(|line| format!("{kind}{line}")));
        }
        Ok(if found.is_empty() { UNLIMITED.to_owned() } else { found.join("; ") })
    }

    fn cpus_max(&self, tree: &Tree) -> TreeReading {
        let groups = self.hierarchy("cpu")?;
        let texts: Vec<String> = if groups.is_unified {
            groups.values(tree, "cpu.max").collect()
        } else {
            let periods = groups.values(tree, "cpu.cfs_period_us");
            groups
                .values(tree, "cpu.cfs_quota_us")
                .zip(periods)
                .map(|(quota, period)| format!("{quota} {period}"))
                .collect()
        };
        let limits = texts.iter().filter_map(|limit| cpu_limit(limit));
        Ok(limits.reduce(f64::min).map_or(UNLIMITED.to_owned(), |cpus| format!("{cpus:.2}")))
    }
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

    const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
                      33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

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
        let groups = Groups::parse(V1, Ok("4:cpu,cpuacct:/a/b\n0::/c\n".to_owned())).unwrap();
        assert_eq!(groups.path_of("cpuacct"), Some(Path::new("/a/b")));
        assert_eq!(groups.path_of(""), Some(Path::new("/c")));
        assert_eq!(groups.path_of("memory"), None);
    }

    #[test]
    fn the_tree_with_the_controller_is_found_in_both_versions() {
        let own = "9:name=systemd:/\n4:memory:/a/b\n1:cpu,cpuacct:/c\n0::/\n";
        let found = |mounts, own: &str, controller, is_unified, mounted_at: &str, place: &str| {
            let expected = Hierarchy { is_unified, mounted_at: mounted_at.into(), own: place.into(), is_part: false };
            assert_eq!(Groups::parse(mounts, Ok(own.to_owned())).unwrap().hierarchy(controller), Ok(expected));
        };
        found(V1, own, "memory", false, "/sys/fs/cgroup/memory", "a/b");
        found(V1, own, "cpu", false, "/sys/fs/cgroup/cpu,cpuacct", "c");
        let alone = "0::/user.slice/session.scope\n";
        found(V2, alone, "memory", true, "/sys/fs/cgroup", "user.slice/session.scope");
        found(V2, alone, "cpu", true, "/sys/fs/cgroup", "user.slice/session.scope");
        assert!(Groups::parse("", Err(String::new())).is_err());
        let none = Groups::parse(V2, Ok(String::new())).unwrap().hierarchy("memory").unwrap_err();
        assert_eq!(none, "no control group tree with the memory controller is mounted");
    }

    #[test]
    fn a_container_sees_a_part_of_the_tree() {
        let mounts = "30 23 0:26 /box /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
        let tree = Groups::parse(mounts, Ok("0::/box/inner\n".to_owned())).unwrap().hierarchy("cpu").unwrap();
        assert!(tree.is_part && tree.own == Path::new("inner"), "{tree:?}");
    }
}
