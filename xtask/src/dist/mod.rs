//! `cargo xtask dist`: what users get who do not build: an archive, a Debian package, and their checksums.
//!
//! The same commit, built in the same place with the same toolchain, gives the same bytes: times are those of the commit
//! (or `SOURCE_DATE_EPOCH`), names are sorted, and everything belongs to root.

mod package;
#[cfg(test)]
mod tests;

use anyhow::{Context, bail, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Shells, with the file name of each one's completions.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "bakeoff.bash"), ("zsh", "_bakeoff"), ("fish", "bakeoff.fish")];

/// Folders that users read and start from.
pub const FOLDERS: [&str; 2] = ["docs", "studies"];

/// A folder with everything in a release, and the folder for the results.
pub struct Dist {
    /// The tree as it is unpacked from the archive.
    pub tree: PathBuf,
    pub folder: PathBuf,
    pub epoch: u64,
}

/// Builds, packs and prints what was made. Returns the Debian package.
pub fn run(root: &Path) -> anyhow::Result<PathBuf> {
    let epoch = epoch(root)?;
    let binary = build(root)?;
    let folder = binary.ancestors().nth(3).context("the binary lies in TARGET/TRIPLE/release")?.join("dist");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    let dist = Dist { tree: folder.join(format!("bakeoff-{VERSION}-x86_64-linux")), folder, epoch };
    dist.lay_out(root, &binary)?;
    settle(&dist.tree, epoch)?;
    let archive = dist.archive()?;
    let package = package::build(root, &dist)?;
    let names = [&archive, &package].map(|path| path.file_name().unwrap_or_default());
    let sums = said(Command::new("sha256sum").args(names).current_dir(&dist.folder))?;
    fs::write(dist.folder.join("SHA256SUMS"), &sums).context("writing SHA256SUMS")?;
    println!("{}\n{sums}", dist.folder.display());
    Ok(package)
}

/// The modification time of all files, in seconds since 1970.
fn epoch(root: &Path) -> anyhow::Result<u64> {
    let told = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(told) => told,
        Err(_) => said(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root))?,
    };
    told.trim().parse().with_context(|| format!("SOURCE_DATE_EPOCH is {told:?}; write seconds since 1970"))
}

fn build(root: &Path) -> anyhow::Result<PathBuf> {
    // Without a date: the binary contains none, and a new one would rebuild SQLite.
    let mut make = Command::new("make");
    said(make.args(["--no-print-directory", "build"]).env_remove("SOURCE_DATE_EPOCH").current_dir(root))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target));
    let binary = target.join("x86_64-unknown-linux-gnu/release/bakeoff");
    let headers = said(Command::new("readelf").args(["--wide", "--program-headers"]).arg(&binary))?;
    ensure!(!headers.contains("INTERP"), "{} is not static: see .cargo/config.toml", binary.display());
    Ok(binary)
}

impl Dist {
    fn lay_out(&self, root: &Path, binary: &Path) -> anyhow::Result<()> {
        copy(binary, &self.tree.join("bakeoff"))?;
        for file in ["LICENSE", "README.md"] {
            copy(&root.join(file), &self.tree.join(file))?;
        }
        for folder in FOLDERS {
            copy_all(&root.join(folder), &self.tree.join(folder))?;
        }
        let man = self.tree.join("man/man1");
        said(Command::new(binary).arg("man").arg(&man)).context("this bakeoff writes no manual pages")?;
        let completions = self.tree.join("completions");
        fs::create_dir_all(&completions).context("making the folder of completions")?;
        for (shell, file) in COMPLETIONS {
            // The script calls the program by the name that it is called by here.
            let script = said(Command::new(binary).arg0("bakeoff").args(["completions", shell]))?;
            fs::write(completions.join(file), script).with_context(|| format!("writing {file}"))?;
        }
        Ok(())
    }

    fn archive(&self) -> anyhow::Result<PathBuf> {
        let name = self.tree.file_name().context("the tree has a name")?;
        let archive = self.tree.with_added_extension("tar.gz");
        let mut tar = Command::new("tar");
        tar.args(["--create", "--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
        tar.args(["--use-compress-program", "gzip --no-name --best", "--file"]).arg(&archive);
        said(tar.arg("--directory").arg(&self.folder).arg(name))?;
        Ok(archive)
    }
}

pub fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let folder = to.parent().context("a file lies in a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    fs::copy(from, to).with_context(|| format!("copying {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Copies the files of a folder, but not its subfolders.
pub fn copy_all(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("listing {}", from.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            continue;
        }
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Gives everything below a path the same time and permissions, whatever the umask and the order of creation.
pub fn settle(path: &Path, epoch: u64) -> anyhow::Result<()> {
    let is_folder = path.is_dir();
    if is_folder {
        for entry in fs::read_dir(path)? {
            settle(&entry?.path(), epoch)?;
        }
    }
    let runs = fs::metadata(path)?.permissions().mode() & 0o100 != 0;
    fs::set_permissions(path, fs::Permissions::from_mode(if runs { 0o755 } else { 0o644 }))?;
    fs::File::open(path)?.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(epoch))?;
    Ok(())
}

/// The standard output of a command, if it succeeds.
pub fn said(command: &mut Command) -> anyhow::Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let ended = command.stderr(std::process::Stdio::inherit()).output();
    let ended = ended.with_context(|| format!("starting {shown}"))?;
    if !ended.status.success() {
        bail!("{shown} ended with {}", ended.status);
    }
    String::from_utf8(ended.stdout).with_context(|| format!("what {shown} prints is no text"))
}
