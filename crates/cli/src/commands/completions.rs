//! Completions: a script for the shell, which asks this program for candidates while somebody types. So it knows the runs that
//! are there, and comes from the same declaration as the command line itself.

use crate::arguments::{Arguments, CompletionsOptions};
use crate::display::print;
use crate::exit::Exit;
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;
use std::path::{Path, PathBuf};

const NAME: &str = "bakeoff";

/// The script sets it where it asks for candidates.
const VARIABLE: &str = "BAKEOFF_COMPLETE";

pub fn completions(options: &CompletionsOptions) -> Result<Exit> {
    let called = std::env::args_os().next().map_or_else(|| NAME.into(), PathBuf::from);
    let program = if called == Path::new(NAME) { called } else { std::path::absolute(called)? };
    let (shells, shell) = (Shells::builtins(), options.shell.to_string());
    let completer = shells.completer(&shell).with_context(|| format!("{shell} has no completions"))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, NAME, NAME, &program.to_string_lossy(), &mut script)?;
    print(&String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}

/// Answers a shell that asks for candidates, and ends then.
pub fn answer() {
    CompleteEnv::with_factory(Arguments::command).var(VARIABLE).complete();
}
