//! The tests that `cargo xtask ci --full` runs beyond the default ones: when they last passed, and which of them a check of main
//! repeats in the time it has.
//!
//! The file is tracked, so that main itself says how long ago all of it was shown to work.

use super::timed::{TimedTest, hundredths};
use super::times::CheckTimes;
use super::tools::NEXTEST;
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

pub const FILE: &str = "docs/full-set.json";
const MAIN: &str = "main";

/// A test of the full set, and the day on which it last passed.
#[derive(Debug, Clone, PartialEq)]
struct Passed {
    timed: TimedTest,
    date: String,
}

pub struct FullSet {
    /// At which all tests last passed, the default ones, too.
    pub commit: String,
    date: String,
    wall_s: f64,
    cpu_s: f64,
    tests: Vec<Passed>,
}

impl FullSet {
    /// `None` if all tests have never passed.
    pub fn read(root: &Path) -> anyhow::Result<Option<Self>> {
        let Ok(text) = std::fs::read_to_string(root.join(FILE)) else { return Ok(None) };
        let read = serde_json::from_str(&text).ok().and_then(|value| Self::of_json(&value));
        read.map(Some).with_context(|| format!("{FILE} is no record of a run of all tests"))
    }

    fn of_json(value: &Value) -> Option<Self> {
        let passed =
            |row: &Value| Some(Passed { timed: TimedTest::of_json(row)?, date: row["date"].as_str()?.to_owned() });
        Some(Self {
            commit: value["commit"].as_str()?.to_owned(),
            date: value["date"].as_str()?.to_owned(),
            wall_s: value["wall_s"].as_f64()?,
            cpu_s: value["cpu_s"].as_f64()?,
            tests: value["tests"].as_array()?.iter().map(passed).collect::<Option<_>>()?,
        })
    }

    fn json(&self) -> Value {
        let row = |passed: &Passed| {
            let mut row = passed.timed.json();
            row["date"] = passed.date.clone().into();
            row
        };
        json!({
            "commit": self.commit, "date": self.date, "wall_s": hundredths(self.wall_s), "cpu_s": hundredths(self.cpu_s),
            "tests": self.tests.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// Records a green run, of all tests or of those that were asked for.
    pub fn passed(root: &Path, times: &CheckTimes, is_whole: bool) -> anyhow::Result<()> {
        let before = Self::read(root)?;
        let ignored = ignored(root)?;
        let date = today()?;
        let ran: Vec<Passed> = times
            .tests
            .iter()
            .filter(|test| ignored.contains(&test.name()))
            .cloned()
            .map(|timed| Passed { timed, date: date.clone() })
            .collect();
        let recorded = if is_whole {
            let (wall_s, cpu_s) = times.of_tests();
            Self { commit: git(root, &["rev-parse", "HEAD"])?, date, wall_s, cpu_s, tests: ran }
        } else {
            let Some(before) = before else { return Ok(()) };
            let is_kept = |old: &Passed| !ran.iter().any(|new| new.timed.name() == old.timed.name());
            let tests = before.tests.iter().filter(|old| is_kept(old)).chain(&ran).cloned().collect();
            Self { tests, ..before }
        };
        let text = serde_json::to_string_pretty(&recorded.json())? + "\n";
        std::fs::write(root.join(FILE), text).with_context(|| format!("writing {FILE}"))
    }

    /// How many commits main has since then. Branches, shallow clones, archives and histories without that commit are not asked.
    pub fn commits_since(&self, root: &Path) -> Option<u32> {
        let ask = |words: &[&str]| git(root, words).ok();
        let is_main = ask(&["rev-parse", "--abbrev-ref", "HEAD"])? == MAIN;
        let is_whole = ask(&["rev-parse", "--is-shallow-repository"])? == "false";
        if !is_main || !is_whole {
            return None;
        }
        ask(&["rev-list", "--count", &format!("{}..HEAD", self.commit)])?.parse().ok()
    }

    /// Names of tests, as a filter of nextest's: those of changed crates first, then those that passed longest ago, as many as
    /// fit into this time.
    pub fn part(&self, root: &Path, time: Duration) -> Vec<String> {
        let changed = changed(root, &self.commit);
        let head = git(root, &["rev-parse", "HEAD"]).unwrap_or_default();
        let chosen = self.chosen(&changed, &head, time);
        if chosen.is_empty() {
            return Vec::new();
        }
        let one = |test: &TimedTest| format!("(binary_id(={}) & test(={}))", test.binary, test.test);
        vec!["--filterset".to_owned(), chosen.into_iter().map(one).collect::<Vec<_>>().join(" + ")]
    }

    /// Tests that passed on the same day take turns: each commit draws another order of them.
    fn chosen(&self, changed: &BTreeSet<String>, head: &str, time: Duration) -> Vec<&TimedTest> {
        let draw = |test: &TimedTest| {
            let mut hasher = DefaultHasher::new();
            (head, test.name()).hash(&mut hasher);
            hasher.finish()
        };
        let mut tests: Vec<&Passed> = self.tests.iter().collect();
        tests.sort_by_key(|passed| {
            (!changed.contains(passed.timed.package()), passed.date.clone(), draw(&passed.timed))
        });
        let mut left_s = time.as_secs_f64();
        let fits = |passed: &&Passed| {
            let fits = passed.timed.wall_s <= left_s;
            left_s -= if fits { passed.timed.wall_s } else { 0.0 };
            fits
        };
        tests.into_iter().filter(fits).map(|passed| &passed.timed).collect()
    }
}

/// Names of the crates that have changed since a commit; none if it is not known.
fn changed(root: &Path, commit: &str) -> BTreeSet<String> {
    let files = git(root, &["diff", "--name-only", commit, "HEAD", "--", "crates"]).unwrap_or_default();
    let folders: BTreeSet<&str> = files.lines().filter_map(|file| file.split('/').nth(1)).collect();
    folders.into_iter().filter_map(|folder| package(&root.join("crates").join(folder))).collect()
}

/// The name of the crate in a folder.
fn package(folder: &Path) -> Option<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = "))?;
    Some(name.trim_matches('"').to_owned())
}

/// The names of all tests that the default set leaves out.
fn ignored(root: &Path) -> anyhow::Result<BTreeSet<String>> {
    let words = ["nextest", "list", "--run-ignored", "only", "--message-format", "json"];
    let output =
        Command::new(NEXTEST.program(root)?).args(words).current_dir(root).output().context("listing tests")?;
    ensure!(output.status.success(), "listing tests failed: {}", String::from_utf8_lossy(&output.stderr));
    let list: Value = serde_json::from_slice(&output.stdout).context("reading the list of tests")?;
    let mut names = BTreeSet::new();
    for (binary, suite) in list["rust-suites"].as_object().context("the list has test binaries")? {
        for (test, found) in suite["testcases"].as_object().into_iter().flatten() {
            if found["ignored"] == true {
                names.insert(format!("{binary} {test}"));
            }
        }
    }
    Ok(names)
}

fn today() -> anyhow::Result<String> {
    let output = Command::new("date").args(["--utc", "+%Y-%m-%d"]).output().context("asking for the date")?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn git(root: &Path, words: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git").args(words).current_dir(root).output().context("starting git")?;
    ensure!(output.status.success(), "git {} failed", words.join(" "));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> FullSet {
        let passed = |binary: &str, test: &str, wall_s: f64, date: &str| {
            let timed = TimedTest { binary: binary.to_owned(), test: test.to_owned(), wall_s, cpu_s: 1.0 };
            Passed { timed, date: date.to_owned() }
        };
        let tests = vec![
            passed("bakeoff::end_to_end", "new", 50.0, "2026-11-28"),
            passed("bakeoff::end_to_end", "old", 60.0, "2026-11-01"),
            passed("disk::disk", "changed", 30.0, "2026-11-28"),
            passed("bakeoff::end_to_end", "long", 500.0, "2026-10-01"),
        ];
        FullSet { commit: "c0ffee".to_owned(), date: "2026-11-28".to_owned(), wall_s: 640.0, cpu_s: 4.0, tests }
    }

    #[test]
    fn changed_crates_come_first_then_what_passed_longest_ago_and_only_what_fits() {
        let (set, changed) = (set(), BTreeSet::from(["disk".to_owned()]));
        let chosen = |seconds| -> Vec<&str> {
            let tests = set.chosen(&changed, "head", Duration::from_secs(seconds));
            tests.into_iter().map(|test| test.test.as_str()).collect()
        };
        assert_eq!(chosen(640), ["changed", "long", "old", "new"]);
        assert_eq!(chosen(100), ["changed", "old"]);
        assert_eq!(chosen(29), [""; 0]);
    }

    #[test]
    fn tests_of_one_day_take_turns() {
        let (mut set, none) = (set(), BTreeSet::new());
        for passed in &mut set.tests {
            passed.date.clear();
            passed.timed.wall_s = 10.0;
        }
        let first = |commit: u32| set.chosen(&none, &commit.to_string(), Duration::from_secs(10))[0].test.clone();
        let drawn: BTreeSet<String> = (0..40).map(first).collect();
        assert_eq!(drawn.len(), 4, "{drawn:?}");
    }

    #[test]
    fn the_record_is_read_as_it_was_written() {
        let set = set();
        let again = FullSet::of_json(&set.json()).unwrap();
        assert_eq!((again.commit, again.date, again.tests), (set.commit, set.date, set.tests));
    }

    #[test]
    fn crates_have_the_names_of_their_manifests() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        assert_eq!(package(&crates.join("cli")).as_deref(), Some("bakeoff"));
    }
}
