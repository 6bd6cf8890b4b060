//! Records with something missing, contradictory or impossible: from their files to the report.

mod changed;
mod hostile;

mod missing;

use analysis::summary::{Analysis, analyse};
use record::error::RecordError;
use record::run::Run;
use record::synthetic::stored;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A run on disk that is changed and read again.
struct OnDisk {
    folder: tempfile::TempDir,
}

impl OnDisk {
    fn of(run: &Run) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        stored::write(run, &folder.path().join("run")).expect("a stored run");
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.file(name)).expect("a file")).expect("JSON")
    }

    /// The file with another value under this JSON pointer.
    fn set(&self, name: &str, pointer: &str, value: impl Into<Value>) {
        let mut json = self.json(name);
        *json.pointer_mut(pointer).unwrap_or_else(|| panic!("{name} has no {pointer}")) = value.into();
        self.write(name, json.to_string());
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.file(name), text).expect("room on the disk");
    }

    fn open(&self) -> Result<Run, RecordError> {
        Run::open(&self.path())
    }

    fn analysed(&self) -> (Run, Analysis) {
        let run = self.open().expect("a readable run");
        let analysis = analyse(&run);
        (run, analysis)
    }

    /// Expects reading to fail with a message that names this file and contains these words.
    #[track_caller]
    fn refused(&self, file: &str, words: &[&str]) {
        let told = self.open().map(|_| ()).expect_err("it is read as if nothing were wrong").to_string();
        assert!(told.contains(file), "{told:?} does not name {file}");
        for word in words {
            assert!(told.contains(word), "{told:?} does not say {word:?}");
        }
    }
}

/// Everything that is made from a run.
fn told(run: &Run, analysis: &Analysis) -> [String; 4] {
    [
        report::html(run, analysis),
        report::markdown(run, analysis),
        report::json(run, analysis).expect("JSON"),
        report::terminal(run, analysis),
    ]
}

#[test]
fn a_run_that_was_stored_is_read_as_it_was() {
    let consolidated = record::synthetic::consolidated::run(1, None);
    for run in [record::synthetic::run(1), consolidated] {
        let disk = OnDisk::of(&run);
        let dir = Path::new(&run.dir).to_owned();
        assert!(Run { dir, ..disk.open().unwrap() } == run);
    }
}
