//! `bakeoff agent`: the half that runs inside a machine.

use crate::arguments::AgentOptions;
use crate::exit::Exit;
use agent::service::{Place, serve};
use anyhow::{Context, Result};
use std::process::ExitCode;

/// As a plain process: frames on standard input and output.
pub fn agent(options: &AgentOptions) -> Result<Exit> {
    std::fs::create_dir_all(&options.logs).with_context(|| format!("making {}", options.logs.display()))?;
    let place = Place { data: options.data.clone(), logs: options.logs.clone() };
    serve(std::io::stdin(), std::io::stdout(), place).context("serving the conductor")?;
    Ok(Exit::Done)
}

/// As the first process of a guest, which starts the agent as above. The guest is powered off at the end, whatever
/// happened.
pub fn as_init() -> ExitCode {
    agent::guest::run();
    ExitCode::SUCCESS
}
