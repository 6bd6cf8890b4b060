//! Words that shells complete.

use clap::Arg;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap_complete::engine::ValueCompleter;
use clap_complete::{CompletionCandidate, PathCompleter};
use std::ffi::OsStr;

/// Accepts any word, and tells shells the known ones for completion. The command itself answers unknown words, since it
/// can tell which one was meant.
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

pub fn workloads_known() -> Vec<&'static str> {
    workloads::catalog::WORKLOADS.iter().map(|entry| entry.kind).collect()
}

/// Runs by the words that name them, and folders that may be runs.
pub fn runs_known(typed: &OsStr) -> Vec<CompletionCandidate> {
    let begun = typed.to_string_lossy();
    let named = crate::run_name::names().into_iter().filter(|name| name.starts_with(&*begun));
    let named = named.map(CompletionCandidate::new).filter(is_plain);
    named.chain(PathCompleter::dir().complete(typed).into_iter().filter(is_plain)).collect()
}

/// Files and folders.
pub fn files_known(typed: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::any().complete(typed).into_iter().filter(is_plain).collect()
}

/// A shell takes candidates as they are, so a name must not have anything that a shell would act on.
fn is_plain(candidate: &CompletionCandidate) -> bool {
    let letters = candidate.get_value().to_string_lossy();
    letters.chars().all(|letter| letter.is_alphanumeric() || "._+-/~".contains(letter))
}

/// The keys of the workload that stands earlier on the command line.
pub fn settings_known(typed: &OsStr) -> Vec<CompletionCandidate> {
    let begun = typed.to_string_lossy();
    let words: Vec<_> = std::env::args_os().collect();
    let entries = workloads::catalog::WORKLOADS.iter().filter(|entry| words.iter().any(|word| word == entry.kind));
    let keys = entries.flat_map(|entry| entry.keys).filter(|key| key.name.starts_with(&*begun));
    keys.map(|key| CompletionCandidate::new(format!("{}=", key.name)).help(Some(key.meaning.into()))).collect()
}
