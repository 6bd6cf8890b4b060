//! `bakeoff completions`: from the same declaration as the command line itself.

use crate::arguments::{Arguments, CompletionsOptions};
use crate::display::print;
use crate::exit::Exit;
use clap::{Command, CommandFactory};

pub fn completions(options: &CompletionsOptions) -> Exit {
    // Into memory first: a reader that goes away early is no failure of ours.
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut shown(&Arguments::command()), "bakeoff", &mut script);
    print(&String::from_utf8_lossy(&script));
    Exit::Done
}

/// Without commands that nobody types.
pub fn shown(command: &Command) -> Command {
    let shown: Vec<Command> = command.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned().collect();
    Command::new("bakeoff")
        .version(crate::origin::version())
        .about(command.get_about().cloned().unwrap_or_default())
        .after_help(command.get_after_help().cloned().unwrap_or_default())
        .subcommands(shown)
}
