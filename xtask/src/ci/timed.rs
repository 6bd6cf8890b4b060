//! Runs one test for the test runner, and adds a line about what it took to a log.

use super::tools::target;
use crate::process::cpu_of_children;
use anyhow::Context;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Precedes the name of the only test to run.
const EXACT: &str = "--exact";

/// What one test took.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedTest {
    /// The test binary as nextest calls it: the crate, or the crate and a file of its tests.
    pub binary: String,
    pub test: String,
    pub wall_s: f64,
    pub cpu_s: f64,
}

impl TimedTest {
    pub fn package(&self) -> &str {
        self.binary.split("::").next().unwrap_or_default()
    }

    pub fn name(&self) -> String {
        format!("{} {}", self.binary, self.test)
    }

    pub fn json(&self) -> Value {
        json!({ "binary": self.binary, "test": self.test, "wall_s": hundredths(self.wall_s), "cpu_s": hundredths(self.cpu_s) })
    }

    pub fn of_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let number = |key: &str| value[key].as_f64();
        Some(Self { binary: text("binary")?, test: text("test")?, wall_s: number("wall_s")?, cpu_s: number("cpu_s")? })
    }
}

pub fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

fn log(root: &Path) -> PathBuf {
    target(root).join("ci/tests.jsonl")
}

/// An empty log.
pub fn fresh_log(root: &Path) -> anyhow::Result<PathBuf> {
    let log = log(root);
    std::fs::create_dir_all(log.parent().context("the log lies in a folder")?)?;
    File::create(&log).with_context(|| format!("making {}", log.display()))?;
    Ok(log)
}

/// The lines of the last log; none if no test was started.
pub fn read(root: &Path) -> anyhow::Result<Vec<TimedTest>> {
    let text = std::fs::read_to_string(log(root)).unwrap_or_default();
    let lines =
        text.lines().map(|line| TimedTest::of_json(&serde_json::from_str(line)?).context("a line about a test"));
    lines.collect()
}

/// Runs a command; if it is one test, the log gets a line.
pub fn run(log: &Path, command: &[String]) -> anyhow::Result<ExitCode> {
    let (program, arguments) = command.split_first().context("a command has a program")?;
    let begin = Instant::now();
    let status = Command::new(program).args(arguments).status().with_context(|| format!("starting {program}"))?;
    let wall_s = begin.elapsed().as_secs_f64();
    let test = arguments.iter().skip_while(|word| *word != EXACT).nth(1);
    if let Some(test) = test {
        let binary = std::env::var("NEXTEST_BINARY_ID").unwrap_or_default();
        let timed = TimedTest { binary, test: test.clone(), wall_s, cpu_s: cpu_of_children()? };
        let mut log =
            OpenOptions::new().append(true).open(log).with_context(|| format!("opening {}", log.display()))?;
        log.write_all(format!("{}\n", timed.json()).as_bytes())?;
    }
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_leaves_a_line_and_its_code_and_a_list_of_tests_leaves_none() {
        let folder = std::env::temp_dir().join(format!("bakeoff-timed-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let log = folder.join("log");
        File::create(&log).unwrap();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        run(&log, &words(&["sh", "-c", "exit 3", "--list"])).unwrap();
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "");
        let code = run(&log, &words(&["sh", "-c", "exit 3", "--exact", "module::test"])).unwrap();
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(3)));
        let line: Value = serde_json::from_str(&std::fs::read_to_string(&log).unwrap()).unwrap();
        assert_eq!(TimedTest::of_json(&line).unwrap().test, "module::test");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
