//! `bakeoff man DIR`: manual pages from the definition of the command line.

use crate::arguments::{Arguments, ManOptions};
use crate::display::print;
use crate::exit::Exit;
use anyhow::{Context, Result};
use clap::CommandFactory;

pub fn man(options: &ManOptions) -> Result<Exit> {
    let folder = options.dir.display();
    std::fs::create_dir_all(&options.dir).with_context(|| format!("making {folder}"))?;
    clap_mangen::generate_to(Arguments::command(), &options.dir)
        .with_context(|| format!("writing manual pages into {folder}"))?;
    print(&format!("the manual pages are in {folder}; man {folder}/bakeoff.1 shows the first\n"));
    Ok(Exit::Done)
}
