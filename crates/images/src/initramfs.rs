//! The first user space of a guest: our own binary as `/init`, and the drivers it needs to find its disks.
//!
//! The archive is not compressed: a virtual machine reads it from the host's memory, and unpacking would cost more than
//! it saves. It contains:
//! - `/init`, the agent
//! - `/modules/NNN-name.ko`, in the order of loading
//! - `/bakeoff-image`, the id of the image
//! - `/dev/console`, which the kernel opens before anything is mounted, and empty folders to mount on

use crate::Image;
use crate::cache::{BUILDER, Cache, CacheError, identity};
use crate::kernel::{self, KernelError};
use cpio::NewcBuilder;
use cpio::newc::{self, ModeFileType};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders in the archive. `newroot` is where the root disk is mounted before it becomes the root.
const FOLDERS: &[&str] = &["proc", "sys", "dev", "run", "tmp", "data", "newroot", "modules"];

/// Device numbers of the console, which are the same on every Linux.
const CONSOLE: (u32, u32) = (5, 1);

/// How many archives are kept. Each build of the agent makes another one, and old ones are soon useless.
const KEPT: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum InitramfsError {
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("cannot make an initramfs from {}: {cause}", .path.display())]
    Io { path: PathBuf, cause: io::Error },
}

/// The archive for this image, agent and drivers. It is made if it is not in the cache.
pub fn build(image: &Image, agent: &Path, drivers: &[&str], cache: &Cache) -> Result<PathBuf, InitramfsError> {
    let modules = kernel::module_closure(image.guest_kernel()?, drivers)?;
    let agent_hash = hash_of(agent).map_err(|cause| InitramfsError::Io { path: agent.to_owned(), cause })?;
    let builder = BUILDER.to_le_bytes();
    let mut parts = vec![builder.as_slice(), image.id.as_bytes(), &agent_hash];
    parts.extend(modules.iter().map(|module| module.as_os_str().as_encoded_bytes()));
    let folder = cache.initramfs_folder();
    let place = folder.join(format!("{}.cpio", identity(parts)));
    if place.exists() {
        return Ok(place);
    }
    let broken = |cause| InitramfsError::Io { path: place.clone(), cause };
    let mut file = tempfile::NamedTempFile::new_in(&folder).map_err(broken)?;
    write(file.as_file_mut(), image, agent, &modules).map_err(broken)?;
    file.as_file().sync_all().map_err(broken)?;
    file.persist(&place).map_err(|error| broken(error.error))?;
    prune(&folder).map_err(broken)?;
    Ok(place)
}

fn write(to: &mut File, image: &Image, agent: &Path, modules: &[PathBuf]) -> io::Result<()> {
    let mut archive = Archive { to: BufWriter::with_capacity(1 << 20, to), next_inode: 1 };
    for folder in FOLDERS {
        archive.folder(folder)?;
    }
    archive.console()?;
    archive.file("bakeoff-image", 0o444, image.id.as_bytes())?;
    for (position, module) in modules.iter().enumerate() {
        let name = module.file_name().unwrap_or_default().to_string_lossy();
        archive.file(&format!("modules/{position:03}-{name}"), 0o444, &fs::read(module)?)?;
    }
    archive.file("init", 0o755, &fs::read(agent)?)?;
    newc::trailer(archive.to)?.flush()
}

/// An archive in the newc format, which the kernel reads.
struct Archive<W: Write> {
    to: W,
    next_inode: u32,
}

impl<W: Write> Archive<W> {
    fn entry(&mut self, name: &str) -> NewcBuilder {
        let inode = self.next_inode;
        self.next_inode += 1;
        NewcBuilder::new(name).ino(inode).uid(0).gid(0)
    }

    fn folder(&mut self, name: &str) -> io::Result<()> {
        let entry = self.entry(name).mode(0o755).nlink(2).set_mode_file_type(ModeFileType::Directory);
        entry.write(&mut self.to, 0).finish().map(|_| ())
    }

    fn console(&mut self) -> io::Result<()> {
        let entry = self.entry("dev/console").mode(0o600).set_mode_file_type(ModeFileType::Char);
        let entry = entry.rdev_major(CONSOLE.0).rdev_minor(CONSOLE.1);
        entry.write(&mut self.to, 0).finish().map(|_| ())
    }

    fn file(&mut self, name: &str, mode: u32, content: &[u8]) -> io::Result<()> {
        let size = u32::try_from(content.len()).map_err(|_| {
            io::Error::new(io::ErrorKind::FileTooLarge, format!("{name} is too large for an initramfs"))
        })?;
        let entry = self.entry(name).mode(mode).set_mode_file_type(ModeFileType::Regular);
        let mut writer = entry.write(&mut self.to, size);
        writer.write_all(content)?;
        writer.finish().map(|_| ())
    }
}

fn hash_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut hash = Sha256::new();
    loop {
        let count = match reader.fill_buf()? {
            [] => return Ok(hash.finalize().to_vec()),
            bytes => {
                hash.update(bytes);
                bytes.len()
            }
        };
        reader.consume(count);
    }
}

/// Removes all but the newest archives. That is safe, because a guest has read its own by the time it runs.
fn prune(folder: &Path) -> io::Result<()> {
    let mut archives: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "cpio") {
            archives.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    archives.sort();
    let surplus = archives.len().saturating_sub(KEPT);
    archives.iter().take(surplus).try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_newest_archives_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        for age in 0..KEPT as u64 + 3 {
            let file = File::create(folder.path().join(format!("{age:02}.cpio"))).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_hours(age)).unwrap();
        }
        File::create(folder.path().join("other")).unwrap();
        prune(folder.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left.len(), KEPT + 1);
        assert_eq!(left[0], "00.cpio");
        assert_eq!(left[KEPT], "other");
    }
}
