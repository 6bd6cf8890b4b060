//! A ground on a file system whose files can share blocks, made for one race, since most hosts' own cannot.

use super::Ground;
use anyhow::{Context, ensure};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sparse: it takes only as much room as is copied into it.
const SIZE_BYTES: u64 = 8 << 30;

pub struct Sharing {
    pub ground: Ground,
    mounted: PathBuf,
}

impl Sharing {
    /// An XFS in a file of the given ground, with a copy of that ground's cache.
    pub fn new(on: &Ground) -> anyhow::Result<Self> {
        let (image, mounted) = (on.folder.join("sharing.img"), on.folder.join("sharing"));
        File::create(&image)?.set_len(SIZE_BYTES).with_context(|| format!("making {}", image.display()))?;
        done(Command::new("mkfs.xfs").args(["-q", "-f", "-m", "reflink=1"]).arg(&image))?;
        std::fs::create_dir_all(&mounted).with_context(|| format!("making {}", mounted.display()))?;
        done(Command::new("mount").args(["-o", "loop"]).args([&image, &mounted]))?;
        let cache = mounted.join("cache");
        let ground = Ground { root: on.root.clone(), bakeoff: on.bakeoff.clone(), folder: on.folder.clone(), cache };
        let sharing = Self { ground, mounted };
        done(Command::new("cp").args(["--archive", "--sparse=always"]).args([&on.cache, &sharing.ground.cache]))?;
        Ok(sharing)
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        // The folder is emptied before the next race, which fails with a message if it is still mounted.
        let _ = done(Command::new("umount").arg(&self.mounted));
    }
}

fn done(command: &mut Command) -> anyhow::Result<()> {
    let name = Path::new(command.get_program()).display().to_string();
    let output = command.output().with_context(|| format!("{name} was not found"))?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}
