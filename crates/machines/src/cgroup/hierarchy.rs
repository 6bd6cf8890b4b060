//! Where in the trees of control groups a limit of one kind can be set.

use std::fs;
use std::path::PathBuf;

const VERSION_1: &str = "this host has control groups of version 1";

/// A tree of cgroups that accounts for a resource.
#[derive(Debug, PartialEq, Eq)]
pub struct Hierarchy {
    pub is_unified: bool,
    pub mounted_at: PathBuf,
    /// Our own cgroup in it.
    pub(super) own: PathBuf,
}

impl Hierarchy {
    /// Finds the tree with this controller on this host.
    pub fn with(controller: &str) -> Result<Self, String> {
        let (mounts, own) = (read("/proc/self/mountinfo")?, read("/proc/self/cgroup")?);
        find(&mounts, &own, controller)
            .ok_or_else(|| format!("no cgroup tree with the {controller} controller is mounted"))
    }

    /// The tree for everything, if this host has no other beside it.
    pub fn unified() -> Result<Self, String> {
        Self::with("memory").and_then(|tree| if tree.is_unified { Ok(tree) } else { Err(VERSION_1.to_owned()) })
    }

    /// Places to try, nearest first. In v2 a cgroup with processes of its own cannot pass controllers on, so ours is left out.
    pub fn parents(&self) -> Vec<PathBuf> {
        let skipped = usize::from(self.is_unified);
        self.own
            .ancestors()
            .skip(skipped)
            .map(|place| self.mounted_at.join(place))
            .filter(|place| place.is_dir())
            .collect()
    }
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

/// Takes v1's tree if there is one, because a v2 tree beside it does not have the controller then.
fn find(mounts: &str, own: &str, controller: &str) -> Option<Hierarchy> {
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
    found(false, mounted("cgroup", controller), own_place(controller))
        .or_else(|| found(true, mounted("cgroup2", ""), own_place("")))
}

#[cfg(test)]
mod tests {
    use super::{Hierarchy, find};

    const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
                      33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn the_tree_with_the_controller_is_found_in_both_versions() {
        let own = "9:name=systemd:/\n4:memory:/a/b\n1:cpu,cpuacct:/c\n0::/\n";
        let found = |mounts, own, controller, is_unified, mounted_at: &str, place: &str| {
            let expected = Hierarchy { is_unified, mounted_at: mounted_at.into(), own: place.into() };
            assert_eq!(find(mounts, own, controller), Some(expected));
        };
        found(V1, own, "memory", false, "/sys/fs/cgroup/memory", "a/b");
        found(V1, own, "cpu", false, "/sys/fs/cgroup/cpu,cpuacct", "c");
        let alone = "0::/user.slice/session.scope\n";
        found(V2, alone, "memory", true, "/sys/fs/cgroup", "user.slice/session.scope");
        found(V2, alone, "cpu", true, "/sys/fs/cgroup", "user.slice/session.scope");
        assert_eq!(find("", "0::/\n", "memory"), None);
    }
}
