//! Files that are read again and again: opened once, then read from their beginning.
//!
//! This saves time. Also, an open file of `/proc/PID` stays with the process it was opened for: once that has ended,
//! reading fails, even if another process has its number by then.

use crate::tree::{Tree, TreeReading, whole_text};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

pub struct Files {
    tree: Tree,
    open: BTreeMap<String, File>,
}

impl Files {
    pub fn new(root: &Path) -> Self {
        Self { tree: Tree::new(root), open: BTreeMap::new() }
    }

    /// Access to the system's files that does not keep them open.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The current text of a file.
    pub fn text(&mut self, path: &str) -> TreeReading {
        if let Some(file) = self.open.get_mut(path) {
            return again(file).map_err(|error| format!("{path} cannot be read any more: {error}"));
        }
        let mut file = self.tree.open(path)?;
        let text = again(&mut file).map_err(|error| format!("{path} cannot be read: {error}"))?;
        self.open.insert(path.to_owned(), file);
        Ok(text)
    }

    /// The number in a file that contains one integer and nothing else.
    pub fn number(&mut self, path: &str) -> Result<u64, String> {
        let text = self.text(path)?;
        text.trim().parse().map_err(|_| format!("{path} holds {:?}", text.trim()))
    }
}

fn again(file: &mut File) -> std::io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    whole_text(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_anew_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("count");
        let mut files = Files::new(folder.path());
        assert_eq!(files.number("/count"), Err("/count does not exist".to_owned()));
        std::fs::write(&path, "7\n").unwrap();
        assert_eq!(files.number("/count"), Ok(7));
        std::fs::write(&path, "12\n").unwrap();
        assert_eq!(files.number("/count"), Ok(12));
        std::fs::write(&path, "many\n").unwrap();
        assert_eq!(files.number("/count"), Err("/count holds \"many\"".to_owned()));
    }

    #[test]
    fn files_of_a_process_that_has_ended_are_not_those_of_another() {
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let path = format!("/proc/{}/stat", child.id());
        let mut files = Files::new(Path::new("/"));
        assert!(files.text(&path).is_ok());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(files.text(&path).unwrap_err().contains("any more"));
    }
}
