//! `bakeoff agent`: the part that runs inside a machine.

use crate::arguments::AgentOptions;
use crate::display::say;
use crate::exit::{EndedWith, Exit};
use agent::service::{Folders, serve};
use anyhow::{Context, Result};
use machines::listening::listen;
use machines::token::Token;
use std::process::ExitCode;

/// As an ordinary process, with frames on standard input and output, or over TCP with one conductor.
pub fn agent(options: &AgentOptions) -> Result<Exit> {
    std::fs::create_dir_all(&options.logs).with_context(|| format!("making {}", options.logs.display()))?;
    machines::limits::hold_open_files().context("setting the limit of open files")?;
    let place = Folders { data: options.data.clone(), logs: options.logs.clone() };
    let served = if let (Some(address), Some(token)) = (options.listen, &options.token_file) {
        let token = Token::of_file(token).map_err(|error| EndedWith::bad_input(error.to_string()))?;
        let (read, write) = listen(address, token, &mut |text| say(text))?;
        serve(read, write, place)
    } else {
        serve(std::io::stdin(), std::io::stdout(), place)
    };
    served.context("serving the conductor")?;
    Ok(Exit::Done)
}

/// As the first process of a guest, which starts the agent as above. The guest is powered off at the end, whatever
/// happened.
pub fn as_init() -> ExitCode {
    agent::guest::run();
    ExitCode::SUCCESS
}
