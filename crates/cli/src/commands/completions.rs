//! `bakeoff completions`, generated from the declaration of the command line itself.

use crate::arguments::{Arguments, CompletionsOptions};
use crate::display::print;
use crate::exit::Exit;
use clap::CommandFactory;

pub fn completions(options: &CompletionsOptions) -> Exit {
    // Into memory first: a reader that closes its end early is no failure of ours.
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "bakeoff", &mut script);
    print(&String::from_utf8_lossy(&script));
    Exit::Done
}
