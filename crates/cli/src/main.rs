//! The bakeoff binary: the tool on the host, and the agent inside every machine.
//!
//! There is one file per command in `commands/`. Only this crate prints, exits and reads the environment. Text for
//! people goes to standard error, data to standard output.

mod address;
mod ahead;
mod arguments;
mod audience;
mod catalog;
mod commands;
mod display;
mod exit;
mod fleet;
mod growth;
mod host;
mod live;
mod metrics;
mod origin;
mod preview;
mod readiness;
mod run_name;
mod scope;
mod site;
mod tools;

use crate::arguments::{AgentOptions, Arguments, Command, ThereOptions};
use crate::exit::Exit;
use anyhow::Result;
use clap::Parser;
use std::process::ExitCode;

/// Printed if no command is given.
const FIRST_STEPS: &str = "\
bakeoff measures what a platform costs a database. First steps:
  bakeoff doctor                    what this host can do
  bakeoff init && bakeoff run study.toml
                                    compare a virtual machine with the host
  bakeoff drive order-entry URL     put load on a server that you have
All commands: bakeoff --help
";

fn main() -> ExitCode {
    host::begin();
    // As a guest's first process, we have no command line of our own.
    if agent::guest::is_init(std::env::args_os().next().as_deref()) {
        return commands::agent::as_init();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == "agent") {
        return ended(commands::agent::agent(&AgentOptions::parse_from(std::env::args_os().skip(1))));
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == "there") {
        scope::enter();
        return ended(commands::there::there(&ThereOptions::parse_from(std::env::args_os().skip(1))));
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == "disk") {
        return ended(commands::disk::disk(&std::env::args().nth(2).unwrap_or_default()));
    }
    commands::completions::answer();
    let arguments = Arguments::parse();
    let Some(command) = arguments.command else {
        display::print(FIRST_STEPS);
        return ended(Ok(Exit::Done));
    };
    if matches!(command, Command::Run(_) | Command::Plan(_) | Command::Audit(_) | Command::Doctor(_)) {
        scope::enter();
    }
    ended(match command {
        Command::Init(options) => commands::init::init(&options),
        Command::Run(options) => commands::run::run(&options),
        Command::Plan(options) => commands::plan::plan(&options),
        Command::Audit(command) => commands::audit::audit(&command),
        Command::Doctor(options) => commands::doctor::doctor(&options),
        Command::Report(options) => commands::report::report(&options),
        Command::Open(options) => commands::open::open(&options),
        Command::Compare(options) => commands::compare::compare(&options),
        Command::Explain(options) => commands::explain::explain(&options),
        Command::Runs(options) => commands::runs::runs(&options),
        Command::Export(options) => commands::export::export(&options),
        Command::List(options) => commands::list::list(&options),
        Command::Drive(options) => commands::drive::drive(&options),
        Command::Rows(options) => commands::rows::rows(&options),
        Command::Fleet(command) => commands::fleet::fleet(&command),
        Command::Image(options) => commands::image::image(&options),
        Command::Cache(options) => commands::cache::cache(&options),
        Command::Man(options) => commands::man::man(&options),
        Command::Completions(options) => commands::completions::completions(&options),
    })
}

fn ended(result: Result<Exit>) -> ExitCode {
    match (result, display::unwritten()) {
        (Ok(Exit::Done), Some(why)) => {
            display::say(&format!("error: writing to standard output: {why}"));
            ExitCode::from(Exit::Failed.code())
        }
        (result, _) => ended_as_told(result),
    }
}

fn ended_as_told(result: Result<Exit>) -> ExitCode {
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            display::error(&error);
            let message = format!("{error:#}");
            if let Some(limit) = machines::limits::met(&message).filter(|limit| !message.contains(limit)) {
                display::say(&limit);
            }
            ExitCode::from(Exit::after(&error).code())
        }
    }
}
