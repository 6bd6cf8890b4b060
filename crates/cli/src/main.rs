//! The bakeoff binary: the tool on the host, and the agent inside every machine.
//!
//! One file per command in `commands/`. Only this crate prints, exits and reads the environment. What people read goes to
//! standard error, data to standard output.

mod arguments;
mod audience;
mod commands;
mod display;
mod exit;
mod growth;
mod host;
mod metrics;
mod origin;
mod readiness;
mod tools;

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    host::begin();
    // Booted as a guest's first process there is no command line of ours.
    if agent::guest::is_init(std::env::args_os().next().as_deref()) {
        return commands::agent::as_init();
    }
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Run(options) => commands::run::run(&options),
        Command::Plan(options) => commands::plan::plan(&options),
        Command::Doctor(options) => commands::doctor::doctor(&options),
        Command::Report(options) => commands::report::report(&options),
        Command::Compare(options) => commands::compare::compare(&options),
        Command::Explain(options) => commands::explain::explain(&options),
        Command::Runs(options) => commands::runs::runs(&options),
        Command::Export(options) => commands::export::export(&options),
        Command::List(options) => commands::list::list(&options),
        Command::Drive(options) => commands::drive::drive(&options),
        Command::Rows(options) => commands::rows::rows(&options),
        Command::Image(options) => commands::image::image(&options),
        Command::Completions(options) => Ok(commands::completions::completions(&options)),
        Command::Agent(options) => commands::agent::agent(&options),
    };
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            display::error(&error);
            if let Some(limit) = machines::limits::met(&format!("{error:#}")) {
                display::say(&limit);
            }
            ExitCode::from(Exit::after(&error).code())
        }
    }
}
