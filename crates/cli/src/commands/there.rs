//! `bakeoff there`: the parts that run on another host, reached by ssh.

use crate::arguments::ThereOptions;
use crate::exit::Exit;
use anyhow::{Context, Result};
use platforms::host::there::{keep, run};
use std::io::{stdin, stdout};

pub fn there(options: &ThereOptions) -> Result<Exit> {
    match options {
        ThereOptions::Keep { parent, name, connection } => {
            keep(parent, name, connection, stdin(), stdout()).context("keeping the folder of the run")?;
            Ok(Exit::Done)
        }
        ThereOptions::Run { folder } => {
            let ended_well = run(folder, stdin(), stdout()).context("running the machine")?;
            Ok(if ended_well { Exit::Done } else { Exit::Host })
        }
    }
}
