//! The process of a disk, for tests and races: `serve SETTINGS`, as `Disk::start` calls it.

use disk::Settings;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let word = std::env::args().nth(1).ok_or("serve SETTINGS")?;
    Ok(disk::serve(&Settings::from_word(&word)?, &mut std::io::stdout())?)
}
