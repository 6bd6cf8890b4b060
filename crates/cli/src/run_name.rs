//! Shorter names for runs than their folders: `last`, `last-1`, or the beginning of a name in `runs`. A run that goes on is none of the
//! last ones.

use crate::exit::EndedWith;
use record::folder::RunFolder;
use std::path::{Path, PathBuf};

/// Where runs are kept by default.
pub const RUNS: &str = "runs";

const LAST: &str = "last";

/// The folder of a run named on the command line.
pub fn resolve(named: &Path) -> Result<PathBuf, EndedWith> {
    resolve_in(Path::new(RUNS), named, &|run| !RunFolder::is_in_use(run))
}

/// The same, where the last run is the one that began last, also if it goes on.
pub fn resolve_begun(named: &Path) -> Result<PathBuf, EndedWith> {
    resolve_in(Path::new(RUNS), named, &|_| true)
}

/// `counts` says which runs may be the last ones.
fn resolve_in(runs: &Path, named: &Path, counts: &dyn Fn(&Path) -> bool) -> Result<PathBuf, EndedWith> {
    if RunFolder::is_at(named) {
        return Ok(named.to_owned());
    }
    if named.is_dir() {
        return Err(EndedWith::bad_input(not_one(named)));
    }
    let name = named.to_string_lossy();
    let known = all(runs);
    if let Some(back) = back(&name) {
        let (going_on, ended): (Vec<_>, Vec<_>) = known.into_iter().partition(|run| !counts(run));
        let found = ended.len().checked_sub(back + 1).map(|place| ended[place].clone());
        return found.ok_or_else(|| {
            let others: Vec<String> = going_on.iter().map(|run| file_name(run)).collect();
            let still = if others.is_empty() {
                String::new()
            } else {
                format!("; a run that goes on has to be named: {}", others.join(", "))
            };
            EndedWith::bad_input(format!("{name}: {}{still}", holds(runs, &ended)))
        });
    }
    let begins = |path: &&PathBuf| !name.is_empty() && file_name(path).starts_with(&*name);
    match known.iter().filter(begins).collect::<Vec<_>>()[..] {
        [one] => Ok(one.clone()),
        [] => {
            let how = "name a run folder, the beginning of its name, or last";
            Err(EndedWith::bad_input(format!("there is no run {name}: {how}; {}", holds(runs, &known))))
        }
        [first, second, ..] => Err(EndedWith::bad_input(format!(
            "{name} is the beginning of {} and {}: write more of it",
            file_name(first),
            file_name(second)
        ))),
    }
}

/// What names a run of the usual folder: its age, and then the folders, the newest first.
pub fn names() -> Vec<String> {
    let folders: Vec<String> = all(Path::new(RUNS)).iter().rev().map(|path| file_name(path)).collect();
    let ages = [LAST.to_owned(), format!("{LAST}-1")].into_iter().take(folders.len());
    ages.chain(folders).collect()
}

/// How many runs before the last one are meant: 0 for "last", 2 for "last-2".
fn back(name: &str) -> Option<usize> {
    let rest = name.strip_prefix(LAST)?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('-')?.parse().ok() }
}

/// Every run in a folder, the newest last, since names begin with the time.
fn all(runs: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| RunFolder::is_at(path)).collect();
    found.sort();
    found
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn holds(runs: &Path, known: &[PathBuf]) -> String {
    let runs = runs.display();
    match known {
        [] => format!("{runs} holds no runs"),
        [one] => format!("{runs} holds 1 run: {}", file_name(one)),
        [.., newest] => format!("{runs} holds {} runs, the newest is {}", known.len(), file_name(newest)),
    }
}

/// The message for a folder that exists but is no run.
fn not_one(folder: &Path) -> String {
    let known = all(folder);
    let instead = if known.is_empty() { "name a run folder" } else { "name one of them" };
    format!("{} is no run folder: {}; {instead}", folder.display(), holds(folder, &known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_known_by_its_age_and_by_the_beginning_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let plan = record::synthetic::run(1).plan;
        for name in ["20260101T000000Z-a", "20260102T000000Z-a", "20260102T000000Z-b"] {
            RunFolder::create(&folder.path().join(name), "", &plan).unwrap();
        }
        let ended = |run: &Path| !RunFolder::is_in_use(run);
        let found = |name: &str| resolve_in(folder.path(), Path::new(name), &ended).map(|path| file_name(&path));
        let told = |name: &str| found(name).unwrap_err().to_string();
        assert_eq!(found("last").unwrap(), "20260102T000000Z-b");
        assert_eq!(found("last-2").unwrap(), "20260101T000000Z-a");
        assert_eq!(found("20260101").unwrap(), "20260101T000000Z-a");
        assert!(told("last-3").contains("holds 3 runs"), "{}", told("last-3"));
        let going_on = RunFolder::go_on(&folder.path().join("20260102T000000Z-b")).unwrap();
        assert_eq!(found("last").unwrap(), "20260102T000000Z-a");
        assert_eq!(found("20260102T000000Z-b").unwrap(), "20260102T000000Z-b");
        let begun = resolve_in(folder.path(), Path::new("last"), &|_| true).unwrap();
        assert_eq!(file_name(&begun), "20260102T000000Z-b");
        let why =
            "holds 2 runs, the newest is 20260102T000000Z-a; a run that goes on has to be named: 20260102T000000Z-b";
        assert!(told("last-2").contains(why), "{}", told("last-2"));
        drop(going_on);
        assert!(told("20260102").contains("write more of it"), "{}", told("20260102"));
        assert!(told("2025").contains("the newest is 20260102T000000Z-b"), "{}", told("2025"));
        let whole = resolve(folder.path()).unwrap_err().to_string();
        assert!(whole.contains("holds 3 runs") && whole.ends_with("name one of them"), "{whole}");
    }
}
