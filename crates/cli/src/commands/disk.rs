//! `bakeoff disk`: the process of a disk that can lose power.

use crate::exit::Exit;
use anyhow::{Context, Result, anyhow};
use disk::FaultSettings;

/// With the settings in one word.
pub fn disk(word: &str) -> Result<Exit> {
    let settings = FaultSettings::from_word(word).map_err(|error| anyhow!(error))?;
    disk::serve(&settings, &mut std::io::stdout()).context("serving the disk")?;
    Ok(Exit::Done)
}
