//! A system's files below a root folder, read up to a limit, and the reason when one cannot be read.

use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// What was read, or why it could not be, in words that follow "unavailable, because".
pub type TreeReading = Result<String, String>;

/// More than any file read here has; `/proc/cpuinfo` has about 1.5 KiB for each of at most a few thousand CPUs.
const LONGEST_FILE: u64 = 8 << 20;

/// What the kernel returns at once from most of its files: a page.
const USUAL_FILE: usize = 4096;

pub struct Tree {
    root: PathBuf,
}

impl Tree {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// Whether this is the system we run on rather than a recorded one.
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The text of a file, given by its absolute path in the system described.
    pub fn text(&self, path: &str) -> TreeReading {
        whole_text(&mut self.open(path)?).map_err(|error| why_unread(path, &error))
    }

    /// The file itself, for reading it more than once.
    pub fn open(&self, path: &str) -> Result<File, String> {
        File::open(self.locate(Path::new(path))).map_err(|error| why_unread(path, &error))
    }

    /// The text of a file with one value, without the line break.
    pub fn value(&self, path: &str) -> TreeReading {
        let text = self.text(path)?;
        let value = text.trim();
        if value.is_empty() { Err(format!("{path} is empty")) } else { Ok(value.to_owned()) }
    }

    /// The last name in a link's target.
    pub fn link_name(&self, path: &str) -> TreeReading {
        let target = std::fs::read_link(self.locate(Path::new(path))).map_err(|error| why_unread(path, &error))?;
        let name = target.file_name().and_then(|name| name.to_str()).map(ToOwned::to_owned);
        name.ok_or_else(|| format!("{path} points to {}", target.display()))
    }

    pub fn exists(&self, path: &str) -> bool {
        self.locate(Path::new(path)).exists()
    }

    /// Names in a folder, sorted; empty if it cannot be read.
    pub fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.locate(Path::new(path))) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str().map(ToOwned::to_owned)).collect();
        names.sort();
        names
    }

    /// An absolute path without links, as the described system would see it. A path that does not exist yet is
    /// resolved from its nearest existing folder.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let located = self.locate(path);
        let resolved = located.ancestors().find_map(|ancestor| {
            let rest = located.strip_prefix(ancestor).ok()?;
            Some(ancestor.canonicalize().ok()?.join(rest))
        });
        let inside = resolved.as_deref().and_then(|resolved| resolved.strip_prefix(&root).ok());
        inside.map_or_else(|| path.to_path_buf(), |inside| Path::new("/").join(inside))
    }

    fn locate(&self, path: &Path) -> PathBuf {
        let below: PathBuf = path.components().filter(|part| !matches!(part, Component::RootDir)).collect();
        self.root.join(below)
    }
}

/// The text of an open file from its current position. The kernel's files do not give their length, so this begins
/// with room for most of them; otherwise every file would be read in four or five small pieces.
pub fn whole_text(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::with_capacity(USUAL_FILE);
    file.take(LONGEST_FILE).read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn why_unread(path: &str, error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("{path} does not exist"),
        ErrorKind::PermissionDenied => format!("{path} may not be read by this user"),
        _ => format!("{path} cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named_in_the_reason() {
        let tree = Tree::new(Path::new("/nonexistent"));
        assert_eq!(tree.value("/proc/uptime"), Err("/proc/uptime does not exist".to_owned()));
        assert!(tree.names("/proc").is_empty());
    }

    #[test]
    fn what_does_not_exist_yet_is_below_what_does() {
        let tree = Tree::new(Path::new("/"));
        assert_eq!(tree.resolve(Path::new("/proc/no/such/file")), Path::new("/proc/no/such/file"));
        assert_eq!(tree.resolve(Path::new("/proc/../no-such-folder")), Path::new("/no-such-folder"));
    }
}
