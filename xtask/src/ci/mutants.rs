//! Breaks five files in many small ways, and counts how often the tests of their crates notice.
//!
//! A faster suite must notice as much as the one before it: the same breaks are tried on both.

use super::phases::run;
use super::tools::{MUTANTS, target};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
const MOST: usize = 40;

/// Writes what became of each break into a file.
pub fn try_all(root: &Path, into: &Path) -> anyhow::Result<()> {
    let mut outcomes = BTreeMap::new();
    for file in FILES {
        let names = chosen(listed(root, file)?);
        println!("{file}: {} breaks", names.len());
        let of_file = tried(root, file, &names)?;
        let caught = of_file.values().filter(|outcome| *outcome == "CaughtMutant").count();
        println!("{file}: {caught} of {} caught", of_file.len());
        outcomes.insert(file, json!({ "caught": caught, "tried": of_file.len(), "breaks": of_file }));
    }
    let text = serde_json::to_string_pretty(&json!({ "seed": SEED, "files": outcomes }))? + "\n";
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

fn chosen(mut names: Vec<String>) -> Vec<String> {
    names.sort_by_key(|name| {
        let mut hasher = DefaultHasher::new();
        (SEED, name).hash(&mut hasher);
        hasher.finish()
    });
    names.truncate(MOST);
    names.sort();
    names
}

fn tried(root: &Path, file: &str, names: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    let out = target(root).join("ci/mutants");
    std::fs::create_dir_all(&out)?;
    let escaped: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    let (out_text, only) = (out.to_string_lossy(), format!("^({})$", escaped.join("|")));
    let words = [MUTANTS.subcommand, "--file", file, "--re", &only, "--output", &out_text, "--no-shuffle"];
    // It ends with another code if a break is missed, which is a result here.
    let _ = run(Command::new(MUTANTS.program(root)?).args(words).current_dir(root), "cargo mutants");
    let file = out.join("mutants.out/outcomes.json");
    let text = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let found: Value = serde_json::from_str(&text)?;
    let outcomes = found["outcomes"].as_array().context("it has outcomes")?.iter().filter_map(|outcome| {
        let name = outcome["scenario"]["Mutant"]["name"].as_str()?;
        Some((name.to_owned(), outcome["summary"].as_str()?.to_owned()))
    });
    let outcomes: BTreeMap<String, String> = outcomes.collect();
    ensure!(outcomes.len() == names.len(), "{} of {} breaks were tried", outcomes.len(), names.len());
    Ok(outcomes)
}

/// A regular expression that only this text matches.
fn escaped(text: &str) -> String {
    let escape = |letter: char| {
        let is_plain = letter.is_alphanumeric() || letter == ' ' || letter == '_';
        if is_plain { vec![letter] } else { vec!['\\', letter] }
    };
    text.chars().flat_map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_breaks_are_chosen_each_time_whatever_the_order() {
        let names = |order: &dyn Fn(u32) -> u32| (0..100).map(|number| format!("break {}", order(number))).collect();
        let (forward, backward) = (chosen(names(&|number| number)), chosen(names(&|number| 99 - number)));
        assert_eq!((forward.len(), &forward), (MOST, &backward));
    }

    #[test]
    fn names_are_no_patterns() {
        assert_eq!(escaped("a.rs:1:2: replace < with ==_"), r"a\.rs\:1\:2\: replace \< with \=\=_");
    }

    #[test]
    fn the_files_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert!(FILES.iter().all(|file| root.join(file).exists()));
    }
}
