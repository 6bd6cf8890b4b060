//! Words that shells complete.

use clap::Arg;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap_complete::engine::ValueCompleter;
use clap_complete::{CompletionCandidate, PathCompleter};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Accepts any word, and names the known ones to shells for completion. The command itself answers unknown words, since it
/// can say which one was meant.
#[derive(Debug, Clone, Copy)]
pub struct Known(pub fn() -> Vec<&'static str>);

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, argument: Option<&Arg>, value: &OsStr) -> clap::error::Result<String> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// The codes of findings, and the names of their kinds.
pub fn codes_known() -> Vec<&'static str> {
    analysis::findings::names().map(|(name, _)| name).collect()
}

pub fn workloads_known() -> Vec<&'static str> {
    workloads::catalog::WORKLOADS.iter().map(|entry| entry.kind).collect()
}

/// Runs by the words that name them, and folders that may be runs.
pub fn runs_known(typed: &OsStr) -> Vec<CompletionCandidate> {
    let begun = typed.to_string_lossy();
    let named = crate::run_name::names().into_iter().filter(|name| name.starts_with(&*begun));
    let named = named.map(CompletionCandidate::new).filter(is_plain);
    named.chain(folders_known(typed)).collect()
}

pub fn files_known(typed: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::file().complete(typed).into_iter().filter(is_plain).collect()
}

pub fn folders_known(typed: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::dir().complete(typed).into_iter().filter(is_plain).collect()
}

/// True while candidates are for a shell that takes them as they are; others quote them.
pub static TAKES_ALL: AtomicBool = AtomicBool::new(true);

/// True unless the shell would act on something in the name.
fn is_plain(candidate: &CompletionCandidate) -> bool {
    if !TAKES_ALL.load(Relaxed) {
        return true;
    }
    let letters = candidate.get_value().to_string_lossy();
    letters.chars().all(|letter| letter.is_alphanumeric() || "._+-/~,%@".contains(letter))
}

/// The keys of the workload that stands earlier on the command line.
pub fn settings_known(typed: &OsStr) -> Vec<CompletionCandidate> {
    let begun = typed.to_string_lossy();
    let words: Vec<_> = std::env::args_os().collect();
    let entries = workloads::catalog::WORKLOADS.iter().filter(|entry| words.iter().any(|word| word == entry.kind));
    let keys = entries.flat_map(|entry| entry.keys).filter(|key| key.name.starts_with(&*begun));
    keys.map(|key| CompletionCandidate::new(format!("{}=", key.name)).help(Some(key.meaning.into()))).collect()
}

/// The keys of a study, with the tables they are in. Engines and workloads of any kind are in one table.
pub fn paths_known(typed: &OsStr) -> Vec<CompletionCandidate> {
    let begun = typed.to_string_lossy();
    let mut known = BTreeMap::new();
    for entry in crate::catalog::entries() {
        let table = match (entry.catalog, entry.kind) {
            ("engine" | "workload", _) => entry.catalog,
            ("study", "study") => "",
            ("study", "machine" | "engine" | "load") => entry.kind,
            ("study", "disk") => "machine.disk",
            _ => continue,
        };
        for key in entry.keys {
            let path = if table.is_empty() { key.name.to_owned() } else { format!("{table}.{}", key.name) };
            known.entry(path).or_insert(key.meaning);
        }
    }
    let known = known.into_iter().filter(|(path, _)| path.starts_with(&*begun));
    known.map(|(path, meaning)| CompletionCandidate::new(format!("{path}=")).help(Some(meaning.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_study_are_completed_with_their_tables() {
        let of = |typed: &str| -> Vec<String> {
            let known = paths_known(OsStr::new(typed));
            known.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(of("load.cl"), ["load.clients="]);
        assert_eq!(of("workload.wareh"), ["workload.warehouses="]);
        assert_eq!(of("machine.disk.si"), ["machine.disk.size="]);
        assert_eq!(of("blo"), ["blocks="]);
        assert_eq!(of("engine.max_connections").len(), 1, "two engines have it");
    }
}
