//! How long control groups kept this process from CPUs because they had used up their CPU time of a period.

use crate::cgroup::Groups;
use crate::probes::cgroup::throttled;
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How the names of all control groups begin that bakeoff makes; the number of the process that makes them follows.
pub const OUR_GROUPS: &str = "bakeoff-";

/// The link's target of a process that sees all control groups around it.
const WHOLE_VIEW: &str = "cgroup:[4026531835]";

/// The counters of all groups around this process that bakeoff did not make.
pub struct Throttling {
    tree: Tree,
    /// The kernel's list of our groups, as it was.
    ours: String,
    files: Vec<String>,
    /// No group around us is hidden by a namespace.
    sees_all: bool,
}

impl Throttling {
    /// The reason if no group around us can be found.
    pub fn around_us() -> Result<Self, String> {
        Self::around(Tree::new(Path::new("/")))
    }

    fn around(tree: Tree) -> Result<Self, String> {
        let sees_all = tree.link_name("/proc/self/ns/cgroup").is_ok_and(|name| name == WHOLE_VIEW);
        let ours = tree.text(OURS)?;
        if sees_all && is_in_no_group(&ours) {
            return Ok(Self { tree, ours, files: Vec::new(), sees_all });
        }
        let groups = Groups::of_process(&tree, std::process::id())?;
        let folders = groups.cpu_folders()?;
        // Parents of a subtree that is mounted alone are hidden, too.
        let is_there = |folder: &PathBuf| tree.exists(&folder.display().to_string());
        let sees_all = sees_all && groups.has_whole_cpu_tree() && folders.iter().all(is_there);
        let stats = folders.iter().filter(|folder| !is_ours(folder)).map(|folder| folder.join("cpu.stat"));
        let stats = stats.map(|path| path.display().to_string());
        let files: Vec<String> =
            stats.filter(|path| tree.text(path).is_ok_and(|text| throttled(&text).is_some())).collect();
        Ok(Self { tree, ours, files, sees_all })
    }

    pub fn sees_all(&self) -> bool {
        self.sees_all
    }

    /// The time of all groups since they were made, each the sum over its CPUs. `None` if we were moved to others.
    pub fn so_far(&self) -> Option<Duration> {
        if self.tree.text(OURS).ok()? != self.ours {
            return None;
        }
        let times = self.files.iter().map(|path| throttled(&self.tree.text(path).ok()?));
        times.sum::<Option<u64>>().map(Duration::from_nanos)
    }

    /// The time between two readings. A time of zero is unknown where a group may be hidden.
    pub fn between(&self, earlier: Option<Duration>, later: Option<Duration>) -> Option<Duration> {
        let time = later?.saturating_sub(earlier?);
        (self.sees_all || !time.is_zero()).then_some(time)
    }
}

const OURS: &str = "/proc/self/cgroup";

/// A process whose groups are all the outermost cannot be held back.
fn is_in_no_group(text: &str) -> bool {
    text.lines().all(|line| line.ends_with(":/"))
}

fn is_ours(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let process = name.strip_prefix(OUR_GROUPS).and_then(|rest| rest.split_once('-'));
    process.is_some_and(|(process, _)| process.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    const MOUNTS: &str = "30 20 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n";

    /// A system whose process of ours is in a group of bakeoff's below a service with a limit.
    fn system(namespace: &str, group: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("/proc/self/mountinfo", MOUNTS);
        write("/proc/self/cgroup", &format!("0::{group}\n"));
        write(&format!("/proc/{}/cgroup", std::process::id()), &format!("0::{group}\n"));
        fs::create_dir_all(root.path().join("proc/self/ns")).unwrap();
        symlink(namespace, root.path().join("proc/self/ns/cgroup")).unwrap();
        let service = "/sys/fs/cgroup/system.slice/load.service";
        write(&format!("{service}/cpu.stat"), "nr_periods 9\nnr_throttled 3\nthrottled_usec 5000\n");
        write(
            &format!("{service}/bakeoff-12-native/cpu.stat"),
            "nr_periods 9\nnr_throttled 9\nthrottled_usec 900000\n",
        );
        root
    }

    #[test]
    fn limits_of_every_group_around_us_count_but_our_own() {
        let root = system(WHOLE_VIEW, "/system.slice/load.service/bakeoff-12-native");
        let throttling = Throttling::around(Tree::new(root.path())).unwrap();
        assert_eq!(throttling.so_far(), Some(Duration::from_millis(5)));
        let none = Some(Duration::ZERO);
        assert_eq!(throttling.between(throttling.so_far(), throttling.so_far()), none);
        fs::remove_file(root.path().join("sys/fs/cgroup/system.slice/load.service/cpu.stat")).unwrap();
        assert_eq!(throttling.so_far(), None, "what cannot be read is unknown");
    }

    #[test]
    fn what_a_namespace_may_hide_is_unknown_and_the_outermost_group_has_no_limit() {
        let root = system("cgroup:[4026532000]", "/system.slice/load.service");
        let throttling = Throttling::around(Tree::new(root.path())).unwrap();
        let [earlier, later] = [5, 7].map(|ms| Some(Duration::from_millis(ms)));
        assert_eq!(throttling.between(earlier, later), Some(Duration::from_millis(2)));
        assert_eq!(throttling.between(later, later), None);
        let root = system(WHOLE_VIEW, "/");
        let throttling = Throttling::around(Tree::new(root.path())).unwrap();
        assert_eq!(throttling.so_far(), Some(Duration::ZERO));
        fs::write(root.path().join("proc/self/cgroup"), "0::/system.slice/load.service\n").unwrap();
        assert_eq!(throttling.so_far(), None, "it was moved to a group");
    }
}
