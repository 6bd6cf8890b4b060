//! Completions: a script for the shell, which asks this program for candidates while somebody types. So it knows the runs that
//! are there, and comes from the same declaration as the command line itself.

use crate::arguments::{Arguments, CompletionsOptions};
use crate::display::{print, shell_word};
use crate::exit::Exit;
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;
use std::path::PathBuf;

const NAME: &str = "bakeoff";

/// The script sets it where it asks for candidates.
const VARIABLE: &str = "BAKEOFF_COMPLETE";

/// Stands for the program while the script is made, because shells need it quoted in their own ways.
const PROGRAM: &str = "program-of-bakeoff";

pub fn completions(options: &CompletionsOptions) -> Result<Exit> {
    let called = std::env::args_os().next().map_or_else(|| NAME.into(), PathBuf::from);
    // What was found by its name alone is found again; a path must not depend on the folder.
    let program = if called.components().count() > 1 { std::path::absolute(called)? } else { called };
    let (shells, shell) = (Shells::builtins(), options.shell.to_string());
    let completer = shells.completer(&shell).with_context(|| format!("{shell} has no completions"))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, NAME, NAME, PROGRAM, &mut script)?;
    let program = shell_word(&program.to_string_lossy());
    let script =
        String::from_utf8_lossy(&script).replace(&format!("\"{PROGRAM}\""), PROGRAM).replace(PROGRAM, &program);
    // zsh runs the file itself where it is first needed.
    let zsh = format!("[[ ${{funcstack[1]}} = _{NAME} ]] && _clap_dynamic_completer_{NAME} \"$@\"\n");
    print(&(script + if shell == "zsh" { &zsh } else { "" }));
    Ok(Exit::Done)
}

/// Answers a shell that asks for candidates, and ends then.
pub fn answer() {
    CompleteEnv::with_factory(Arguments::command).var(VARIABLE).complete();
}
