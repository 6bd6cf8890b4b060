//! `bakeoff completions`: from the same declaration as the command line itself.

use crate::arguments::{Arguments, CompletionsOptions};
use crate::exit::Exit;
use clap::CommandFactory;

pub fn completions(options: &CompletionsOptions) -> Exit {
    clap_complete::generate(options.shell, &mut Arguments::command(), "bakeoff", &mut std::io::stdout());
    Exit::Done
}
