//! The package is installed on a system without anything of ours, and measures there.

use super::package::needed;
use super::{VERSION, run, said};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const STUDY: &str = r#"
question = "Does the package work?"
seed = 7
blocks = 1
[machine]
vcpus = 1
memory = "512MiB"
disk = { size = "2GiB" }
[engine]
kind = "sqlite"
[workload]
kind = "order-entry"
warehouses = 1
[load]
clients = 2
warmup = "1s"
measure = "3s"
[[contender]]
name = "native"
platform = { kind = "native" }
"#;

/// The new system's root is a mount, as on any system. All mounts go with the namespace. The run has a queue of its own, and ends as
/// one block does, whose answers are not usable.
const MEASURE: &str = r#"
mount --bind "$0" "$0" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
mount --rbind /proc "$0/proc" && mount -t tmpfs tmpfs "$0/tmp" &&
BAKEOFF_QUEUE=installed exec chroot "$0" sh -ec 'man=$(ls /usr/share/man/man1/bakeoff*.gz); test -n "$man"; bakeoff --version; bakeoff run /study.toml --runs /runs || test $? = 12'
"#;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

#[test]
fn what_studies_need_is_what_is_installed_for_them() {
    let script = fs::read_to_string(root().join("scripts/packages")).unwrap();
    let needed = needed(&script).unwrap();
    assert!(needed.contains(&"qemu-system-x86") && needed.contains(&"mount"), "{needed:?}");
    assert!(!needed.contains(&"build-essential"), "nothing is built by whoever installs the package");
}

/// Skips with a message, or fails if root is required: a user who is not root cannot mount.
fn is_root() -> bool {
    let root = said(Command::new("id").arg("--user")).unwrap().trim() == "0";
    let required = std::env::var("REQUIRE").unwrap_or_default();
    assert!(root || !required.split(',').any(|part| part == "root"), "root is required but not here");
    if !root {
        eprintln!("SKIPPED: root is not here");
    }
    root
}

/// This host's own package sources, as files that mmdebstrap reads.
fn sources() -> Vec<PathBuf> {
    let parts = fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten().map(|entry| entry.path());
    let read = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|e| e == "list" || e == "sources");
    parts.chain([PathBuf::from("/etc/apt/sources.list")]).filter(read).collect()
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn the_package_installs_on_a_clean_system_and_measures_there() {
    if !is_root() {
        return;
    }
    let package = run(root()).unwrap();
    let folder = package.with_file_name("installed");
    let depends = said(Command::new("dpkg-deb").arg("--field").arg(&package).arg("Depends")).unwrap();
    let mut install = Command::new("mmdebstrap");
    install.args(["--variant=apt", &format!("--include={}", depends.trim().replace(", ", ","))]);
    install.arg(format!("--customize-hook=copy-in {} /", package.display()));
    install.arg(format!("--customize-hook=chroot \"$1\" dpkg --install /bakeoff_{VERSION}_amd64.deb"));
    said(install.arg("bookworm").arg(&folder).args(sources())).unwrap();
    fs::write(folder.join("study.toml"), STUDY).unwrap();
    let contained = ["--mount", "sh", "-c", MEASURE];
    let printed = said(Command::new("unshare").args(contained).arg(&folder)).unwrap();
    let reports = fs::read_dir(folder.join("runs")).unwrap().flatten().map(|run| run.path().join("report.html"));
    assert_eq!(reports.filter(|report| report.is_file()).count(), 1, "{printed}");
    fs::remove_dir_all(&folder).unwrap();
}
