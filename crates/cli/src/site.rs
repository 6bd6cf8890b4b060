//! What a run uses of this host.

use crate::exit::EndedWith;
use crate::host::{self, cache_folder, cpus, memory_bytes};
use crate::{address, origin};
use anyhow::{Context, Result};
use machines::scratch::Scratch;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use trial::limits::Limits;
use trial::site::Site;

/// The place for the few files of a rehearsal, which lasts as long as the folder is held.
pub fn rehearsal_site() -> Result<(Site, Scratch)> {
    let real = site()?;
    let folder = Scratch::create(&real.scratch, &format!("rehearsal-{}", std::process::id()))?;
    let cache = folder.path().to_owned();
    Ok((Site { scratch: cache.join("scratch"), cache, ..real }, folder))
}

pub fn site() -> Result<Site> {
    let cache = cache_folder()?;
    let scratch = cache.join("scratch");
    std::fs::create_dir_all(&scratch).with_context(|| format!("making {}", scratch.display()))?;
    let agent = std::env::current_exe().context("finding this program's own file, the agent of every machine")?;
    let made_by = origin::made_by();
    Ok(Site {
        cache,
        scratch,
        agent,
        cpus: cpus()?,
        memory_bytes: memory_bytes(),
        made_by,
        read_host: trial::site::read_host,
        limits: Limits::default(),
        credentials: host::credentials(),
        find_server: |url| address::found(url).map_err(|error| error.to_string()),
        lines: None,
    })
}

/// Fails if the file that this program was started from is another one by now: machines would get that one.
pub fn require_running_program(file: &Path) -> Result<()> {
    let identity = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino()));
    if identity(file).ok() == identity(Path::new("/proc/self/exe")).ok() {
        return Ok(());
    }
    Err(EndedWith::host(format!("{} was replaced since it was started; run the command again", file.display())).into())
}
