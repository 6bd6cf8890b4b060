//! Breaks five files in many small ways, and counts how often the tests of their crates notice.
//!
//! A faster suite must notice as much as the one before it: the same breaks are tried on both.

use super::phases::run;
use super::tools::{MUTANTS, NEXTEST, target};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

const FILES: [&str; 5] = [
    "crates/trial/src/conversation.rs",
    "crates/driver/src/pacing.rs",
    "crates/platforms/src/qemu/command.rs",
    "crates/analysis/src/contrast.rs",
    "crates/study/src/shape.rs",
];
/// Decides which breaks of a file are tried.
const SEED: u64 = 51;
const MOST: usize = 12;
const NOTICED: [&str; 2] = ["CaughtMutant", "Timeout"];
/// The tests of these crates without servers and guests, which take minutes for each break.
const TESTS: &str = "not ((package(platforms) & kind(test)) | (package(driver) & test(/postgres|mariadb/)))";
/// A break that hangs a test is noticed, too: it gets this many times what the tests of all five crates take without a break.
const PATIENCE: &str = "1.5";

/// Writes what became of each break into a file.
pub fn try_all(root: &Path, into: &Path) -> anyhow::Result<()> {
    let mut names = Vec::new();
    for file in FILES {
        names.extend(chosen(listed(root, file)?));
    }
    let outcomes = tried(root, &names)?;
    let files = FILES.map(|file| {
        let of_file: BTreeMap<_, _> = outcomes.iter().filter(|(name, _)| name.starts_with(file)).collect();
        // A break that does not compile says nothing about tests.
        let caught = of_file.values().filter(|outcome| NOTICED.contains(&outcome.as_str())).count();
        println!("{file}: {caught} of {} caught", of_file.len());
        (file, json!({ "caught": caught, "tried": of_file.len(), "breaks": of_file }))
    });
    let text = serde_json::to_string_pretty(&json!({ "seed": SEED, "files": BTreeMap::from(files) }))? + "\n";
    std::fs::write(into, text).with_context(|| format!("writing {}", into.display()))
}

fn listed(root: &Path, file: &str) -> anyhow::Result<Vec<String>> {
    let words = [MUTANTS.subcommand, "--list", "--json", "--file", file];
    let output =
        Command::new(MUTANTS.program(root)?).args(words).current_dir(root).output().context("listing breaks")?;
    ensure!(output.status.success(), "listing breaks failed: {}", String::from_utf8_lossy(&output.stderr));
    let list: Vec<Value> = serde_json::from_slice(&output.stdout).context("reading the list of breaks")?;
    list.iter().map(|found| found["name"].as_str().map(str::to_owned).context("a break has a name")).collect()
}

/// The same breaks whatever lines they stand in, so that two commits are compared by the same list.
fn chosen(names: Vec<String>) -> Vec<String> {
    let mut met = HashMap::new();
    let mut drawn: Vec<(u64, String)> = names
        .into_iter()
        .map(|name| {
            let what = name.splitn(4, ':').last().unwrap_or_default().to_owned();
            let count = met.entry(what.clone()).and_modify(|count| *count += 1).or_insert(0);
            let mut hasher = DefaultHasher::new();
            (SEED, what, *count).hash(&mut hasher);
            (hasher.finish(), name)
        })
        .collect();
    drawn.sort();
    drawn.into_iter().take(MOST).map(|(_, name)| name).collect()
}

fn tried(root: &Path, names: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    let out = target(root).join("ci/mutants");
    std::fs::create_dir_all(&out)?;
    // Not the settings of a commit, so that the tests of two commits run alike.
    let (settings, escaped) = (out.join("nextest.toml"), names.iter().map(|name| escaped(name)).collect::<Vec<_>>());
    std::fs::write(&settings, "")?;
    let only = format!("^({})$", escaped.join("|"));
    let mut command = Command::new(MUTANTS.program(root)?);
    command.args([
        MUTANTS.subcommand,
        "--no-shuffle",
        "--timeout-multiplier",
        PATIENCE,
        "--test-tool",
        "nextest",
        "--re",
        &only,
    ]);
    command.arg("--output").arg(&out).args(FILES.map(|file| ["--file", file]).as_flattened());
    command.arg("--").args(["--filterset", TESTS, "--config-file"]).arg(&settings);
    // It starts `cargo nextest`, and ends with another code if a break is missed, which is a result here.
    let runner = NEXTEST.program(root)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = runner.parent().into_iter().map(Path::to_owned).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(folders)?).current_dir(root);
    let _ = run(&mut command, "cargo mutants");
    let text = std::fs::read_to_string(out.join("mutants.out/outcomes.json")).context("reading outcomes.json")?;
    let found: Value = serde_json::from_str(&text)?;
    let outcomes = found["outcomes"].as_array().context("it has outcomes")?.iter().filter_map(|outcome| {
        let name = outcome["scenario"]["Mutant"]["name"].as_str()?;
        Some((name.to_owned(), outcome["summary"].as_str()?.to_owned()))
    });
    let outcomes: BTreeMap<String, String> = outcomes.collect();
    ensure!(outcomes.len() == names.len(), "{} of {} breaks were tried", outcomes.len(), names.len());
    Ok(outcomes)
}

/// A regular expression that only this text matches. Escaped angle brackets stand for the ends of words.
fn escaped(text: &str) -> String {
    let escape = |letter: char| {
        let is_plain = letter.is_alphanumeric() || matches!(letter, ' ' | '_' | '<' | '>');
        if is_plain { vec![letter] } else { vec!['\\', letter] }
    };
    text.chars().flat_map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_breaks_are_chosen_whatever_lines_they_stand_in() {
        let names = |line: u32| {
            (0..100).map(|number| format!("a.rs:{}:{number}: break {}", line + number, number / 2)).collect()
        };
        let chosen = |line| {
            chosen(names(line)).iter().map(|name| name.rsplit(':').next().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!((chosen(1).len(), chosen(1)), (MOST, chosen(700)));
    }

    #[test]
    fn names_are_no_patterns() {
        assert_eq!(escaped("a.rs:1:2: replace < with ==_"), r"a\.rs\:1\:2\: replace < with \=\=_");
    }

    #[test]
    fn the_files_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(FILES.iter().all(|file| root.join(file).exists()));
    }
}
