//! The Debian package: the files of the archive in Debian's places, and the packages that bakeoff needs.

use super::{Dist, FOLDERS, VERSION, copy, copy_all, said, settle};
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files of the archive, and Debian's places for them.
const PLACES: [(&str, &str); 6] = [
    ("bakeoff", "usr/bin/bakeoff"),
    ("LICENSE", "usr/share/doc/bakeoff/copyright"),
    ("README.md", "usr/share/doc/bakeoff/README.md"),
    ("completions/bakeoff.bash", "usr/share/bash-completion/completions/bakeoff"),
    ("completions/_bakeoff", "usr/share/zsh/vendor-completions/_bakeoff"),
    ("completions/bakeoff.fish", "usr/share/fish/vendor_completions.d/bakeoff.fish"),
];
/// Studies without virtual machines do not need this package.
const RECOMMENDED: &str = "qemu-system-x86";

pub fn build(root: &Path, dist: &Dist) -> anyhow::Result<PathBuf> {
    let tree = dist.folder.join("package");
    for (from, to) in PLACES {
        copy(&dist.tree.join(from), &tree.join(to))?;
    }
    for folder in FOLDERS {
        copy_all(&dist.tree.join(folder), &tree.join("usr/share/doc/bakeoff").join(folder))?;
    }
    let manual = tree.join("usr/share/man/man1");
    copy_all(&dist.tree.join("man/man1"), &manual)?;
    let mut gzip = Command::new("gzip");
    said(gzip.args(["--no-name", "--best", "--recursive"]).arg(&manual))?;
    let size = said(Command::new("du").args(["--apparent-size", "--block-size=1024", "--summarize"]).arg(&tree))?;
    let size = size.split_whitespace().next().context("du prints a size")?;
    let packages = fs::read_to_string(root.join("scripts/packages")).context("reading scripts/packages")?;
    let control = tree.join("DEBIAN/control");
    fs::create_dir_all(tree.join("DEBIAN")).context("making the folder of the control file")?;
    fs::write(&control, control_file(&needed(&packages)?, size)).context("writing the control file")?;
    settle(&tree, dist.epoch)?;
    let package = dist.folder.join(format!("bakeoff_{VERSION}_amd64.deb"));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree).arg(&package);
    said(build.env("SOURCE_DATE_EPOCH", dist.epoch.to_string()))?;
    fs::remove_dir_all(&tree).context("removing the package's tree")?;
    Ok(package)
}

/// The packages that scripts/packages installs for running studies.
pub fn needed(script: &str) -> anyhow::Result<Vec<&str>> {
    let list = script.lines().find_map(|line| line.strip_prefix("running=(")?.strip_suffix(')'));
    Ok(list.context("scripts/packages has a line running=(…)")?.split_whitespace().collect())
}

fn control_file(needed: &[&str], size_kib: &str) -> String {
    let (recommended, depends): (Vec<&str>, Vec<&str>) = needed.iter().partition(|name| **name == RECOMMENDED);
    format!(
        "Package: bakeoff\nVersion: {VERSION}\nArchitecture: amd64\nMaintainer: The maintainers of bakeoff <bakeoff@localhost>\n\
         Section: database\nPriority: optional\nInstalled-Size: {size_kib}\nDepends: {}\nRecommends: {}\n\
         Description: measure what a platform costs a database\n \
         Runs the same database with the same data, settings and load natively and in a\n \
         virtual machine of equal shape, in shuffled order, and says how much slower one\n \
         is than the other and how sure that is.\n",
        depends.join(", "),
        recommended.join(", ")
    )
}
