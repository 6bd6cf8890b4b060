//! The process of a disk, for tests and races: `serve SETTINGS`, as `Disk::start` calls it.

use disk::FaultSettings;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let word = std::env::args().nth(1).ok_or("serve SETTINGS")?;
    Ok(disk::serve(&FaultSettings::from_word(&word)?, &mut std::io::stdout())?)
}
