//! Everything that must pass before a change goes in, cheapest first; it stops at the first failure.

mod full_set;
mod memory;
mod mutants;
mod nextest;
mod phases;
pub mod timed;
mod times;
mod tools;

use crate::tidy;
use anyhow::ensure;
use full_set::FullSet;
use nextest::TestSet;
use phases::{Phases, start};
use std::path::Path;
use std::time::{Duration, Instant};
use times::CheckTimes;
use tools::NEXTEST;

pub use mutants::try_all as try_mutants;

/// How many commits main may be ahead of the last green run of all tests.
const MOST_COMMITS: u32 = 80;
/// The hosts of the lab that the full set tries, and as whom.
const LAB: [(&str, &str); 2] = [("debian-12", "root"), ("debian-13", "dba")];

/// What a part of the full set may take, and when everything has to be at its end.
const PART: Duration = Duration::from_mins(10);
const ALL: Duration = Duration::from_mins(28);

/// Everything that can be checked without running our code.
pub fn lint(root: &Path) -> anyhow::Result<()> {
    lint_in(&mut Phases::default(), root)
}

fn lint_in(phases: &mut Phases, root: &Path) -> anyhow::Result<()> {
    phases.measure("format", || start(root, &["cargo", "fmt", "--all", "--check"]))?;
    phases.measure("tidy", || tidy::run(root))?;
    let clippy = ["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    phases.measure("clippy", || start(root, &clippy))
}

/// The tests that newcomers run, or with `full` all of them.
pub fn test(root: &Path, full: bool, filters: &[String]) -> anyhow::Result<()> {
    let mut phases = Phases::default();
    let asked = if full { TestSet::All } else { TestSet::Default };
    let result = run_tests(&mut phases, root, asked, filters);
    let times = CheckTimes::new(phases, timed::read(root)?);
    println!("{times}");
    times.write(root)?;
    result?;
    if full { FullSet::passed(root, &times, filters.is_empty()) } else { Ok(()) }
}

fn run_tests(phases: &mut Phases, root: &Path, asked: TestSet, filters: &[String]) -> anyhow::Result<()> {
    let packages = if asked == TestSet::Default { "--tests" } else { "--full" };
    phases.measure("packages", || start(root, &["scripts/packages", packages]))?;
    phases.measure("test runner", || NEXTEST.program(root))?;
    phases.measure("build", || nextest::build(root, filters))?;
    phases.measure(times::TESTS, || nextest::run_tests(root, asked, filters))
}

/// Linting and the default tests, then all others or those of the full set for which there is time.
pub fn ci(root: &Path, full: bool) -> anyhow::Result<()> {
    let begin = Instant::now();
    let mut phases = Phases::default();
    let known = FullSet::read(root)?;
    if let Some(behind) = known.as_ref().and_then(|known| known.commits_since(root)) {
        let commit = known.as_ref().map_or("", |known| &known.commit);
        ensure!(
            full || behind <= MOST_COMMITS,
            "all tests last passed at {commit}, {behind} commits ago, and at most {MOST_COMMITS} are allowed: \
             run `cargo xtask ci --full` and commit {}",
            full_set::FILE
        );
    }
    lint_in(&mut phases, root)?;
    if full {
        start(root, &["cargo", "xtask", "test", "--full"])?;
        for (kind, user) in LAB {
            start(root, &["cargo", "xtask", "lab", "check", kind, "--as", user])?;
            start(root, &["cargo", "xtask", "lab", "down", kind])?;
        }
    } else {
        start(root, &["make", "--no-print-directory", "test"])?;
    }
    let mut times = CheckTimes::read(root)?.after(phases);
    if let (false, Some(known)) = (full, known) {
        let left = PART.min(ALL.saturating_sub(begin.elapsed()));
        times = run_a_part(root, &known, left, times)?;
    }
    println!("{times}");
    times.write(root)
}

fn run_a_part(root: &Path, known: &FullSet, left: Duration, times: CheckTimes) -> anyhow::Result<CheckTimes> {
    let part = known.part(root, left);
    if part.is_empty() {
        println!("No test of the full set fits into the {} s that are left.", left.as_secs());
        return Ok(times);
    }
    let mut phases = Phases::default();
    phases.measure("packages of the full set", || start(root, &["scripts/packages", "--full"]))?;
    phases.measure("a part of the full set", || nextest::run_tests(root, TestSet::Ignored, &part))?;
    Ok(times.and(phases, timed::read(root)?))
}
