//! The project's own files: everything that git tracks or would track, as text.

use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

pub struct SourceFile {
    /// Relative to the project's root, with forward slashes.
    pub path: String,
    pub text: String,
}

impl SourceFile {
    pub fn is_rust(&self) -> bool {
        self.ends_in("rs")
    }

    pub fn is_page(&self) -> bool {
        self.ends_in("md")
    }

    fn ends_in(&self, ending: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == ending)
    }
}

/// Files that tools write, or texts that are not ours.
const NOT_OURS: &[&str] = &["Cargo.lock", "LICENSE"];

/// Reads every file that git tracks or would track. Files that are not text are left out.
pub fn read(root: &Path) -> anyhow::Result<Vec<SourceFile>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("starting git ls-files")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let paths = listed.split('\0').filter(|path| !path.is_empty() && !NOT_OURS.contains(path));
    let mut sources = Vec::new();
    for path in paths {
        let file = root.join(path);
        // Deleted but not yet staged, or a link whose target is in the list itself.
        if !file.is_file() || file.is_symlink() {
            continue;
        }
        let bytes = std::fs::read(&file).with_context(|| format!("reading {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            sources.push(SourceFile { path: path.to_owned(), text });
        }
    }
    Ok(sources)
}
