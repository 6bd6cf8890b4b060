//! Hashes of a trial's files, so that lost, swapped and changed ones are noticed.
//!
//! `trial.json` has those of all other files but logs, which are for people, and its own: as its text is hashed with zeros in place of
//! that hash. It has those of the run's study, host and plan, too; of the plan, without what a run adds to it.

use crate::bounds;
use crate::error::{RecordError, failing};
use crate::trial::TrialRecord;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead};
use std::path::{Component, Path};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Hashes in hexadecimal by the path in the trial's folder.
pub type Seals = BTreeMap<String, String>;

const RECORD: &str = "trial.json";
const LOGS: &str = "logs";
const ZEROS: &str = "00000000000000000000000000000000";
/// The way from the folder of a trial to that of its run.
const TO_RUN: &str = "../../";
const PLAN: &str = "plan.json";
const OF_RUN: [&str; 3] = ["study.toml", "host.json", PLAN];
/// Keys of a plan that change when its run adds blocks.
pub(crate) const GROWING: [&str; 3] = ["blocks", "trials", "precision"];

/// The record's text, with the hashes of the files that are in its folder.
pub fn sealed(
    folder: &Path,
    record: &TrialRecord,
    to_text: impl FnOnce(&TrialRecord) -> Result<Vec<u8>, RecordError>,
) -> Result<Vec<u8>, RecordError> {
    let mut files = Seals::new();
    add(folder, "", &mut files)?;
    let run = folder.join(TO_RUN);
    let of_run = OF_RUN.iter().filter_map(|name| Some((format!("{TO_RUN}{name}"), hash_of_run(&run, name).ok()?)));
    files.extend(of_run);
    files.insert(RECORD.to_owned(), ZEROS.to_owned());
    let text = to_text(&TrialRecord { files, ..record.clone() })?;
    let own = hash(&text);
    Ok(replaced(&text, ZEROS, &own))
}

fn add(folder: &Path, below: &str, files: &mut Seals) -> Result<(), RecordError> {
    for entry in fs::read_dir(folder).map_err(failing("listing", folder))? {
        let entry = entry.map_err(failing("listing", folder))?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && name != LOGS {
            add(&path, &format!("{below}{name}/"), files)?;
        } else if path.is_file() {
            let file = fs::File::open(&path).map(io::BufReader::new);
            files.insert(format!("{below}{name}"), file.and_then(hash_of).map_err(failing("reading", &path))?);
        }
    }
    Ok(())
}

fn hash_of_run(run: &Path, name: &str) -> io::Result<String> {
    let text = bounds::read(&run.join(name), bounds::JSON_BYTES)?;
    if name != PLAN {
        return Ok(hash(&text));
    }
    let mut plan: BTreeMap<String, Value> = serde_json::from_slice(&text)?;
    plan.retain(|key, _| !GROWING.contains(&key.as_str()));
    Ok(hash(&serde_json::to_vec(&plan)?))
}

/// The files of the run that are as no trial has seen them, one sentence each.
pub fn changed_in_run<'a>(run: &Path, trials: &(impl Iterator<Item = &'a Seals> + Clone)) -> Vec<String> {
    let of = |name: &&str| {
        let sealed: BTreeSet<_> = trials.clone().filter_map(|files| files.get(&format!("{TO_RUN}{name}"))).collect();
        (!sealed.is_empty()).then(|| {
            why_broken(&format!("{name} of the run"), hash_of_run(run, name), |found| sealed.contains(found))
        })?
    };
    OF_RUN.iter().filter_map(of).collect()
}

/// The files that are not as they were when the trial was complete, one sentence each; none in a record without hashes.
pub fn broken(folder: &Path, files: &Seals) -> Vec<String> {
    let is_of_run = |name: &str| name.strip_prefix(TO_RUN).is_some_and(|name| OF_RUN.contains(&name));
    let of = |(name, sealed): (&String, &String)| {
        let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_below {
            return Some(format!("{name} is missing"));
        }
        let path = folder.join(name);
        let found = if name == RECORD {
            bounds::read(&path, bounds::SERIES_BYTES).map(|text| hash(&replaced(&text, sealed, ZEROS)))
        } else {
            bounds::open(&path, bounds::SERIES_BYTES).and_then(hash_of)
        };
        why_broken(name, found, |found| found == sealed)
    };
    files.iter().filter(|(name, _)| !is_of_run(name)).filter_map(of).collect()
}

fn why_broken(name: &str, found: io::Result<String>, is_right: impl Fn(&String) -> bool) -> Option<String> {
    match found {
        Ok(found) => (!is_right(&found)).then(|| format!("{name} was changed after the trial")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(format!("{name} is missing")),
        Err(error) => Some(format!("{name} cannot be read: {error}")),
    }
}

fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

/// A series may be far larger than the memory that a report should take.
fn hash_of(mut file: impl BufRead) -> io::Result<String> {
    let mut hasher = Xxh3::new();
    loop {
        let some = file.fill_buf()?;
        if some.is_empty() {
            return Ok(format!("{:032x}", hasher.digest128()));
        }
        hasher.update(some);
        let taken = some.len();
        file.consume(taken);
    }
}

/// The hashes are the end of the record, so the last occurrence is the place of one.
fn replaced(text: &[u8], hash: &str, by: &str) -> Vec<u8> {
    let mut text = text.to_vec();
    if let Some(at) = text.windows(hash.len().max(1)).rposition(|window| window == hash.as_bytes()) {
        text.splice(at..at + hash.len(), by.bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::TrialFolder;

    const FILES: [&str; 3] = ["intervals.hlog", "telemetry-host.csv", "machines/1/trial.json"];

    fn complete(path: &Path, seed: u64) -> TrialFolder {
        let folder = TrialFolder::alone(path.to_owned());
        folder.begin().unwrap();
        for file in FILES.into_iter().chain(["logs/console.txt"]) {
            folder.write(file, format!("{file} of {seed}, as it was written").as_bytes()).unwrap();
        }
        let planned = crate::plan::PlannedTrial { id: 1, block: 1, cell: 0, seed, host: None };
        folder
            .complete(&TrialRecord::begun(&planned, "native", "2026-01-01T00:00:00Z".to_owned(), String::new()))
            .unwrap();
        folder
    }

    fn found(folder: &TrialFolder) -> Vec<String> {
        broken(folder.path(), &folder.record().unwrap().files)
    }

    #[test]
    fn whatever_is_lost_changed_or_swapped_is_found() {
        let parent = tempfile::tempdir().unwrap();
        let [one, other] = [1, 2].map(|seed| complete(&parent.path().join(seed.to_string()), seed));
        assert_eq!(found(&one), [] as [String; 0]);
        fs::write(one.path().join("logs/console.txt"), "without what nobody else may read").unwrap();
        assert_eq!(found(&one), [] as [String; 0], "logs are for people");
        for file in FILES.into_iter().chain([RECORD]) {
            let path = one.path().join(file);
            let good = fs::read(&path).unwrap();
            let changed = [format!("{file} was changed after the trial")];
            for at in 0..good.len() {
                let mut flipped = good.clone();
                flipped[at] ^= 1;
                fs::write(&path, flipped).unwrap();
                // A record that cannot be read any more is refused, and one without hashes is as old ones are.
                let is_told = one.record().map_or(true, |record| record.files.is_empty() || !found(&one).is_empty());
                assert!(is_told, "{file}, byte {at}");
            }
            fs::copy(other.path().join(file), &path).unwrap();
            let whole_record = file == RECORD;
            assert!(whole_record || found(&one) == changed, "{file} of another trial");
            fs::remove_file(&path).unwrap();
            assert!(whole_record || found(&one) == [format!("{file} is missing")]);
            fs::write(&path, good).unwrap();
        }
        assert_eq!(found(&one), [] as [String; 0]);
    }

    #[test]
    fn the_files_of_a_run_are_as_one_of_its_trials_has_seen_them() {
        let parent = tempfile::tempdir().unwrap();
        let run = parent.path();
        let write = |file: &str, text: &str| fs::write(run.join(file), text).unwrap();
        let plan = |seed: u32, blocks: u32| {
            write(PLAN, &serde_json::json!({"seed": seed, "blocks": blocks, "trials": [blocks]}).to_string());
        };
        let changed = |trials: &[&TrialFolder]| {
            let seals: Vec<Seals> = trials.iter().map(|trial| trial.record().unwrap().files).collect();
            changed_in_run(run, &seals.iter())
        };
        write("study.toml", "blocks = 1");
        write("host.json", "{}");
        plan(1, 1);
        let first = complete(&run.join("trials/0001"), 1);
        plan(1, 2);
        assert_eq!((found(&first), changed(&[&first])), (vec![], vec![]), "a block was added");
        for (file, good) in [("study.toml", "blocks = 1"), ("host.json", "{}")] {
            write(file, "swapped");
            assert_eq!(changed(&[&first]), [format!("{file} of the run was changed after the trial")]);
            fs::remove_file(run.join(file)).unwrap();
            assert_eq!(changed(&[&first]), [format!("{file} of the run is missing")]);
            write(file, good);
        }
        plan(2, 2);
        assert_eq!(changed(&[&first]), ["plan.json of the run was changed after the trial"]);
        let second = complete(&run.join("trials/0002"), 2);
        assert_eq!(changed(&[&first, &second]), [] as [String; 0], "the second has seen it");
    }

    #[test]
    fn a_hostile_record_has_no_file_outside_its_folder_read() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("secret"), "x").unwrap();
        let files = ["../secret", "/etc/hostname"].map(|name| (name.to_owned(), hash(b"x")));
        let told = broken(&parent.path().join("run"), &files.into());
        assert_eq!(told, ["../secret is missing", "/etc/hostname is missing"]);
    }
}
