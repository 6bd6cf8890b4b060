//! Faults while load is driven: each must show in what is reported. docs/faults.md lists them with their tests.

mod served;
mod stopped;
mod unequal;

use crate::running::{below, command_line, send};
use rustix::process::Signal;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Processes that are stopped until this is dropped.
pub struct Stopped(Vec<u32>);

impl Stopped {
    pub fn all(processes: Vec<u32>) -> Self {
        for process in &processes {
            send(*process, Signal::STOP);
        }
        Self(processes)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for process in &self.0 {
            send(*process, Signal::CONT);
        }
    }
}

/// The processes below this one whose command lines begin with these words.
pub fn named(parent: u32, words: &str) -> Vec<u32> {
    below(parent).into_iter().filter(|process| command_line(*process).starts_with(words)).collect()
}

/// A lasting fault has to last; there is no event to wait for.
pub fn for_a_while(span: Duration) {
    let (_nobody_speaks, silence) = channel::<()>();
    let _ = silence.recv_timeout(span);
}

/// Every test named in docs/faults.md exists.
#[test]
fn every_fault_in_the_docs_has_its_test() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = std::fs::read_to_string(root.join("docs/faults.md")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ") && line.contains(".rs::")).collect();
    assert!(rows.len() >= 14, "{} rows", rows.len());
    for row in rows {
        let test = row.rsplit('|').nth(1).and_then(|cell| cell.split('`').nth(1)).expect("a test's name");
        let (file, name) = test.split_once("::").expect("a file and a function");
        let source = std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(source.contains(&format!("fn {name}()")), "{name} is not in {file}");
    }
}
