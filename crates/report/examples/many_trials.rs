//! Writes the folder of a made-up run with many trials: `many_trials FOLDER TRIALS`. `cargo xtask bench report` reports on it.

use record::synthetic;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: many_trials FOLDER TRIALS")?;
    let trials: u32 = arguments.next().ok_or("usage: many_trials FOLDER TRIALS")?.parse()?;
    synthetic::stored::write(&synthetic::run(trials / 2), Path::new(&folder))?;
    Ok(())
}
