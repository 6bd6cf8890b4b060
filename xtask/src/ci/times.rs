//! What a check took: by phase, by crate, and the slowest tests.

use super::phases::{Phases, TimedPhase};
use super::timed::{TimedTest, hundredths};
use super::tools::target;
use anyhow::Context;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

const SLOWEST: usize = 20;
/// The phase that runs tests.
pub const TESTS: &str = "tests";

pub struct CheckTimes {
    phases: Vec<TimedPhase>,
    pub tests: Vec<TimedTest>,
}

impl CheckTimes {
    pub fn new(phases: Phases, tests: Vec<TimedTest>) -> Self {
        Self { phases: phases.0, tests }
    }

    /// With the phases before these.
    pub fn after(self, before: Phases) -> Self {
        Self { phases: [before.0, self.phases].concat(), tests: self.tests }
    }

    /// With what was done after these.
    pub fn and(self, phases: Phases, tests: Vec<TimedTest>) -> Self {
        Self { phases: [self.phases, phases.0].concat(), tests: [self.tests, tests].concat() }
    }

    fn file(root: &Path) -> PathBuf {
        target(root).join("ci/times.json")
    }

    pub fn write(&self, root: &Path) -> anyhow::Result<()> {
        let phase = |phase: &TimedPhase| json!({ "phase": phase.name, "wall_s": hundredths(phase.wall_s), "cpu_s": hundredths(phase.cpu_s) });
        let phases: Vec<Value> = self.phases.iter().map(phase).collect();
        let tests: Vec<Value> = self.tests.iter().map(TimedTest::json).collect();
        let file = Self::file(root);
        std::fs::create_dir_all(file.parent().context("the file lies in a folder")?)?;
        let text = serde_json::to_string_pretty(&json!({ "phases": phases, "tests": tests }))?;
        std::fs::write(&file, text + "\n").with_context(|| format!("writing {}", file.display()))
    }

    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let file = Self::file(root);
        let text = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        Self::of_json(&serde_json::from_str(&text)?).with_context(|| format!("{} is no table of times", file.display()))
    }

    fn of_json(value: &Value) -> Option<Self> {
        let phase = |phase: &Value| {
            let (wall_s, cpu_s) = (phase["wall_s"].as_f64()?, phase["cpu_s"].as_f64()?);
            Some(TimedPhase { name: phase["phase"].as_str()?.to_owned(), wall_s, cpu_s })
        };
        let phases: Option<_> = value["phases"].as_array()?.iter().map(phase).collect();
        let tests: Option<_> = value["tests"].as_array()?.iter().map(TimedTest::of_json).collect();
        Some(Self { phases: phases?, tests: tests? })
    }

    /// Crates, the most CPU time first.
    fn by_package(&self) -> Vec<(&str, usize, f64, f64)> {
        let mut sums: BTreeMap<&str, (usize, f64, f64)> = BTreeMap::new();
        for test in &self.tests {
            let (count, wall_s, cpu_s) = sums.entry(test.package()).or_default();
            *count += 1;
            *wall_s += test.wall_s;
            *cpu_s += test.cpu_s;
        }
        let mut rows: Vec<_> =
            sums.into_iter().map(|(name, (count, wall_s, cpu_s))| (name, count, wall_s, cpu_s)).collect();
        rows.sort_by(|one, other| other.3.total_cmp(&one.3));
        rows
    }

    /// Wall and CPU seconds of the phase that runs tests.
    pub fn of_tests(&self) -> (f64, f64) {
        let tests = self.phases.iter().find(|phase| phase.name == TESTS);
        tests.map_or((0.0, 0.0), |phase| (phase.wall_s, phase.cpu_s))
    }

    fn slowest(&self) -> Vec<&TimedTest> {
        let mut tests: Vec<&TimedTest> = self.tests.iter().collect();
        tests.sort_by(|one, other| other.wall_s.total_cmp(&one.wall_s));
        tests.truncate(SLOWEST);
        tests
    }
}

impl fmt::Display for CheckTimes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = |what: &str| format!("\n{:>8}{:>8}  {what}", "wall s", "CPU s");
        let row = |wall_s: f64, cpu_s: f64, what: &str| format!("{wall_s:>8.1}{cpu_s:>8.1}  {what}");
        writeln!(formatter, "{}", head("phase"))?;
        for TimedPhase { name, wall_s, cpu_s } in &self.phases {
            writeln!(formatter, "{}", row(*wall_s, *cpu_s, name))?;
        }
        writeln!(formatter, "{}", head("crate and number of tests; their times are added up"))?;
        for (name, count, wall_s, cpu_s) in self.by_package() {
            writeln!(formatter, "{}", row(wall_s, cpu_s, &format!("{name}, {count}")))?;
        }
        writeln!(formatter, "{}", head(&format!("the {SLOWEST} slowest tests")))?;
        for test in self.slowest() {
            writeln!(formatter, "{}", row(test.wall_s, test.cpu_s, &test.name()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(binary: &str, test: &str, wall_s: f64, cpu_s: f64) -> TimedTest {
        TimedTest { binary: binary.to_owned(), test: test.to_owned(), wall_s, cpu_s }
    }

    fn some() -> CheckTimes {
        let phase = TimedPhase { name: "build".to_owned(), wall_s: 60.0, cpu_s: 110.5 };
        let tests =
            vec![timed("disk::life", "a", 1.0, 0.25), timed("disk", "b", 3.0, 0.5), timed("trial", "c", 2.0, 1.5)];
        CheckTimes { phases: vec![phase], tests }
    }

    #[test]
    fn crates_are_added_up_and_the_slowest_come_first() {
        let times = some();
        assert_eq!(times.by_package(), [("trial", 1, 2.0, 1.5), ("disk", 2, 4.0, 0.75)]);
        assert_eq!(times.slowest().iter().map(|test| test.test.as_str()).collect::<Vec<_>>(), ["b", "c", "a"]);
    }

    #[test]
    fn a_file_of_times_is_read_again() {
        let folder = std::env::temp_dir().join(format!("bakeoff-times-{}", std::process::id()));
        let times = some();
        let file = folder.join("times.json");
        std::fs::create_dir_all(&folder).unwrap();
        let value = json!({
            "phases": [{ "phase": "build", "wall_s": 60.0, "cpu_s": 110.5 }],
            "tests": times.tests.iter().map(TimedTest::json).collect::<Vec<_>>(),
        });
        std::fs::write(&file, value.to_string()).unwrap();
        let read =
            CheckTimes::of_json(&serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((read.phases, read.tests), (times.phases, times.tests));
    }
}
