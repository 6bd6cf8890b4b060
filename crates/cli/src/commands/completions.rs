//! Completions: a script for the shell, which asks this program for candidates while somebody types. So it knows the runs that
//! are there, and comes from the same declaration as the command line itself.

use crate::arguments::known::TAKES_ALL;
use crate::arguments::{Arguments, CompletionsOptions};
use crate::display::{print, quoted};
use crate::exit::Exit;
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

const NAME: &str = "bakeoff";

/// The script sets it where it asks for candidates.
const VARIABLE: &str = "BAKEOFF_COMPLETE";

/// Stands for the program while bash's script is made, which quotes it a second time.
const PROGRAM: &str = "program-of-bakeoff";

/// Without candidates of ours bash completes names of files, and quotes them.
const BASH_ALONE: &str = "-o bashdefault";
const BASH_AND_FILES: &str = "-o bashdefault -o default";

pub fn completions(options: &CompletionsOptions) -> Result<Exit> {
    let called = std::env::args_os().next().map_or_else(|| NAME.into(), PathBuf::from);
    // What was found by its name alone is found again; a path must not depend on the folder.
    let program = if called.components().count() > 1 { std::path::absolute(called)? } else { called };
    let (shells, shell) = (Shells::builtins(), options.shell.to_string());
    let completer = shells.completer(&shell).with_context(|| format!("{shell} has no completions"))?;
    let mut script = Vec::new();
    let program = program.to_string_lossy();
    let stands_for = if shell == "bash" { PROGRAM } else { &program };
    completer.write_registration(VARIABLE, NAME, NAME, stands_for, &mut script)?;
    let script = String::from_utf8_lossy(&script);
    print(&match shell.as_str() {
        "bash" => script.replace(&format!("\"{PROGRAM}\""), &quoted(&program)).replace(BASH_ALONE, BASH_AND_FILES),
        // It runs the file itself where it is first needed.
        "zsh" => {
            format!("{script}if [[ ${{funcstack[1]}} = _{NAME} ]]; then _clap_dynamic_completer_{NAME} \"$@\"; fi\n")
        }
        _ => script.into_owned(),
    });
    Ok(Exit::Done)
}

/// Answers a shell that asks for candidates, and ends then.
pub fn answer() {
    let shell = std::env::var(VARIABLE).unwrap_or_default();
    TAKES_ALL.store(matches!(shell.as_str(), "bash" | "powershell"), Relaxed);
    CompleteEnv::with_factory(Arguments::command).var(VARIABLE).complete();
}
