//! Words that shells complete.

use clap::Arg;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
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
