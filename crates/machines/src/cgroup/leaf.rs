//! Our own group as a place for groups: in version 2 one that has processes cannot pass controllers on. So this process
//! moves into a leaf below it.

use super::{is_passed_on, parents};
use std::fs;
use std::path::{Path, PathBuf};
use telemetry::Hierarchy;

/// The leaf's name. It is no group of a machine, and ends with its parent.
const LEAF: &str = "bakeoff";
const WANTED: [&str; 3] = ["memory", "cpu", "cpuset"];

/// Makes our own group a place for groups of machines, where that is needed; the error is why it cannot be. It can where a service
/// manager gave the group to us, and in a container whose groups may be written. Nothing is done to a group with processes of
/// others.
pub fn settle() -> Result<(), String> {
    let tree = unified()?;
    let has_all = |parent: &PathBuf| WANTED.iter().all(|controller| is_passed_on(controller, parent).is_ok());
    if rustix::process::geteuid().is_root() && parents(&tree).iter().any(has_all) {
        return Ok(());
    }
    settle_in(&tree.mounted_at.join(&tree.own), std::process::id())
}

/// The tree for everything, if this host has no other beside it.
fn unified() -> Result<Hierarchy, String> {
    let tree = Hierarchy::with("memory")?;
    if tree.is_unified { Ok(tree) } else { Err("this host has control groups of version 1".to_owned()) }
}

/// Whether this host has version 2 alone.
pub fn is_one_tree() -> bool {
    unified().is_ok()
}

fn settle_in(own: &Path, process: u32) -> Result<(), String> {
    let read = |file: &str| {
        let path = own.join(file);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let write = |path: &Path, text: &str| fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()));
    if own.file_name().is_some_and(|name| name == LEAF) {
        return Ok(());
    }
    let members = read("cgroup.procs")?;
    if members.split_ascii_whitespace().any(|member| member != process.to_string()) {
        return Err(format!("{} has processes of others", own.display()));
    }
    let leaf = own.join(LEAF);
    fs::create_dir(&leaf).or_else(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Ok(()),
        _ => Err(format!("{}: {error}", leaf.display())),
    })?;
    write(&leaf.join("cgroup.procs"), &process.to_string())?;
    let there = read("cgroup.controllers")?;
    for controller in WANTED.iter().filter(|wanted| there.split_ascii_whitespace().any(|there| there == **wanted)) {
        write(&own.join("cgroup.subtree_control"), &format!("+{controller}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a group; the kernel's part is tried in the lab.
    fn group(members: &str) -> tempfile::TempDir {
        let group = tempfile::tempdir().unwrap();
        fs::write(group.path().join("cgroup.procs"), members).unwrap();
        fs::write(group.path().join("cgroup.controllers"), "io memory pids").unwrap();
        group
    }

    #[test]
    fn a_group_of_ours_alone_gets_a_leaf() {
        let group = group("7\n");
        settle_in(group.path(), 7).unwrap();
        let text = |file: &str| fs::read_to_string(group.path().join(file)).unwrap();
        assert_eq!(text("bakeoff/cgroup.procs"), "7");
        assert_eq!(text("cgroup.subtree_control"), "+memory");
        settle_in(&group.path().join("bakeoff"), 7).unwrap();
    }

    #[test]
    fn nothing_is_done_to_a_group_of_others() {
        let group = group("7\n8\n");
        let why = settle_in(group.path(), 7).unwrap_err();
        assert!(why.ends_with("has processes of others"), "{why}");
        assert!(!group.path().join("bakeoff").exists());
    }
}
