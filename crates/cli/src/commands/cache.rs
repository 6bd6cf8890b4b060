//! `bakeoff cache`: what is kept between runs, and how to remove it.

use crate::arguments::{CacheCommand, CacheOptions};
use crate::display::print;
use crate::exit::Exit;
use crate::host;
use anyhow::{Context, Result};
use settings::Bytes;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Folders of the cache that may be removed whenever no run is going on, and what they contain.
const PARTS: [(&str, &str); 6] = [
    ("trees", "images"),
    ("kernels", "kernels of guests"),
    ("initramfs", "what guests boot from"),
    ("data", "loaded data"),
    ("kvm", "whether KVM works"),
    ("scratch", "files of running machines"),
];
/// The unit of `st_blocks`.
const SECTOR_BYTES: u64 = 512;

pub fn cache(options: &CacheOptions) -> Result<Exit> {
    let folder = host::cache_folder()?;
    match options.command {
        None => show(&folder)?,
        Some(CacheCommand::Clean) => clean(&folder)?,
    }
    Ok(Exit::Done)
}

fn show(folder: &Path) -> Result<()> {
    let mut text = format!("{} (BAKEOFF_CACHE names another)\n", folder.display());
    let mut all = 0;
    for (part, what) in PARTS {
        let bytes = used(&folder.join(part));
        all += bytes;
        writeln!(text, "  {part:<10} {:>10}  {what}", study::roughly(bytes))?;
    }
    writeln!(
        text,
        "  {:<10} {:>10}\n`bakeoff cache clean` removes it; runs make it again",
        "all",
        study::roughly(all)
    )?;
    print(&text);
    Ok(())
}

/// Waits in the queue of runs, so that no run loses files that it uses.
fn clean(folder: &Path) -> Result<()> {
    let (_turn, _) = host::queue()?.turn(&mut |holder| crate::display::say(&format!("waiting for {holder} to end")))?;
    let mut freed = 0;
    for (part, _) in PARTS {
        let path = folder.join(part);
        if path.exists() {
            freed += used(&path);
            fs::remove_dir_all(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    print(&format!("removed {} from {}\n", Bytes(freed), folder.display()));
    Ok(())
}

/// The disk space of a file, or of a folder with everything in it. What cannot be read counts as nothing.
fn used(path: &Path) -> u64 {
    let Ok(metadata) = path.symlink_metadata() else { return 0 };
    let own = metadata.blocks() * SECTOR_BYTES;
    let entries = metadata.is_dir().then(|| fs::read_dir(path).into_iter().flatten().flatten()).into_iter().flatten();
    own + entries.map(|entry| used(&entry.path())).sum::<u64>()
}
