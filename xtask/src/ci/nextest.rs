//! Builds and runs tests, each as a process of its own.

use super::memory;
use super::phases::run;
use super::timed;
use super::tools::{NEXTEST, target};
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

/// The only target, whose test binaries `timed` starts.
const RUNNER: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";

/// A test that computes takes three threads of nextest's, a test that waits takes one, and so does a guest.
const THREADS_PER_CPU: usize = 4;
const THREAD_OF_GUESTS: usize = 1;
/// As the settings have it, for two CPUs.
const WAITING: &str = "waiting = { max-threads = 5 }";

/// Which tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestSet {
    Default,
    Ignored,
    All,
}

pub fn build(root: &Path, filters: &[String]) -> anyhow::Result<()> {
    start(root, &["--no-run"], filters, &[])
}

/// Runs tests, all that are asked for or those that filters of nextest's name.
pub fn run_tests(root: &Path, asked: TestSet, filters: &[String]) -> anyhow::Result<()> {
    let ignored = match asked {
        TestSet::Default => "default",
        TestSet::Ignored => "only",
        TestSet::All => "all",
    };
    let log = timed::fresh_log(root)?;
    let own = std::env::current_exe().context("finding this program")?;
    let runner = format!("{} timed {}", own.display(), log.display());
    // Without this, nextest starts itself once more before each test, to be ready for Ctrl+Z.
    let mut variables = vec![(RUNNER, runner.as_str()), ("NEXTEST_DOUBLE_SPAWN", "0")];
    // Those of the full set can be larger than memory.
    let in_memory = if asked == TestSet::Default { memory::folder() } else { None };
    variables.extend(in_memory.as_ref().and_then(|folder| Some((memory::VARIABLE, folder.path().to_str()?))));
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let (threads, settings) = ((THREADS_PER_CPU * cpus + THREAD_OF_GUESTS).to_string(), settings_for(root, cpus)?);
    let options = ["--run-ignored", ignored, "--test-threads", &threads, "--config-file", &settings];
    start(root, &options, filters, &variables)
}

/// Settings by which as many tests wait as these CPUs bear.
fn settings_for(root: &Path, cpus: usize) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(root.join(".config/nextest.toml")).context("reading settings of tests")?;
    ensure!(text.contains(WAITING), "settings of tests do not have the line `{WAITING}`");
    let here = target(root).join("ci/nextest.toml");
    std::fs::write(&here, text.replace(WAITING, &format!("waiting = {{ max-threads = {} }}", 2 * cpus.max(2) + 1)))?;
    Ok(here.to_string_lossy().into_owned())
}

fn start(root: &Path, options: &[&str], filters: &[String], variables: &[(&str, &str)]) -> anyhow::Result<()> {
    let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
    let words = [&["nextest", "run"], options, &filters[..]].concat();
    let command = &mut Command::new(NEXTEST.program(root)?);
    run(command.args(&words).current_dir(root).envs(variables.iter().copied()), &format!("cargo {}", words.join(" ")))
}
