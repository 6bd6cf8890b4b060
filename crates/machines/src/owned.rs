//! Whether a folder and what is in it are ours alone: made by us and writable by nobody else.
//!
//! Programs in a cache are run, and processes that a ledger names are killed, with our rights. So nobody else may be
//! able to write either, except root, who has those rights anyway.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Mode bits: the group and all others may write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// In a folder with this bit, others who may write to it still cannot rename or remove somebody else's files.
const STICKY: u32 = 0o1000;
const MODE: u32 = 0o7777;
const ROOT: u32 = 0;

#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    #[error(
        "{path} belongs to the user with the number {owner}, not to {us}, and what is in it would be believed; name another \
         folder, or take this one over if you trust what is in it: chown -R {us} {path}", path = .path.display()
    )]
    OtherOwner { path: PathBuf, owner: u32, us: u32 },
    #[error(
        "{path} can be written by other users (its mode is {mode:04o}), and what is in it would be believed; if you trust what is in \
         it: chmod -R go-w {path}", path = .path.display()
    )]
    WritableByOthers { path: PathBuf, mode: u32 },
    #[error("looking up who owns {}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Fails unless the file or folder, or the target of a link, is ours and nobody else can write to it.
pub fn require(path: &Path) -> Result<(), ForeignError> {
    let metadata = fs::metadata(path).map_err(failing(path))?;
    judge(path, &metadata)
}

/// Like [`require`], for the metadata of an open file, or of a path without following a link.
pub fn judge(path: &Path, metadata: &Metadata) -> Result<(), ForeignError> {
    let us = rustix::process::geteuid().as_raw();
    let (path, owner, mode) = (path.to_owned(), metadata.uid(), metadata.mode() & MODE);
    if owner != us && owner != ROOT {
        return Err(ForeignError::OtherOwner { path, owner, us });
    }
    // A link's own mode means nothing; its target is judged separately.
    if !metadata.is_symlink() && mode & WRITABLE_BY_OTHERS != 0 {
        return Err(ForeignError::WritableByOthers { path, mode });
    }
    Ok(())
}

/// [`require`] for the folders on the way to a folder: whoever can rename one of them can replace this one. `folder`
/// must not contain links.
pub fn require_above(folder: &Path) -> Result<(), ForeignError> {
    folder.ancestors().skip(1).try_for_each(require_or_shared)
}

/// Like [`require`], but allows a folder like `/tmp`, where everybody may make files but nobody may remove another's.
pub fn require_or_shared(folder: &Path) -> Result<(), ForeignError> {
    let metadata = fs::metadata(folder).map_err(failing(folder))?;
    let is_shared = metadata.mode() & STICKY != 0 && metadata.mode() & WRITABLE_BY_OTHERS != 0;
    if is_shared { Ok(()) } else { judge(folder, &metadata) }
}

/// [`require`] for a folder and its content, down to a number of levels.
pub fn require_whole(folder: &Path, levels: u32) -> Result<(), ForeignError> {
    require(folder)?;
    require_below(folder, levels)
}

fn require_below(folder: &Path, levels: u32) -> Result<(), ForeignError> {
    if levels == 0 {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(failing(folder))? {
        let path = entry.map_err(failing(folder))?.path();
        let required = fs::symlink_metadata(&path).map_err(failing(&path)).and_then(|metadata| {
            judge(&path, &metadata)?;
            let metadata = if metadata.is_symlink() { fs::metadata(&path).map_err(failing(&path))? } else { metadata };
            judge(&path, &metadata)?;
            if metadata.is_dir() { require_below(&path, levels - 1) } else { Ok(()) }
        });
        match required {
            // Another process of ours removed it meanwhile, or it is a link that leads nowhere.
            Err(ForeignError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

fn failing(path: &Path) -> impl FnOnce(io::Error) -> ForeignError {
    let path = path.to_owned();
    move |source| ForeignError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::{ForeignError, require, require_above, require_whole};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::path::Path;

    const SOMEBODY: u32 = 4711;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_can_write_is_not_ours_however_deep() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().canonicalize().unwrap().join("cache");
        let file = folder.join("data/key/loaded.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{}").unwrap();
        let inside = file.parent().unwrap();
        for path in [&folder, inside.parent().unwrap(), inside, &file] {
            let before = fs::metadata(path).unwrap().permissions();
            for mode in [0o777, 0o775, 0o757] {
                require_whole(&folder, 3).unwrap();
                set_mode(path, mode);
                let told = require_whole(&folder, 3).unwrap_err().to_string();
                assert!(
                    told.contains(&format!("{} can be", path.display())) && told.contains(&format!("0{mode:o}")),
                    "{told}"
                );
                assert!(told.contains("chmod -R go-w"), "{told}");
                fs::set_permissions(path, before.clone()).unwrap();
            }
        }
        // Deeper levels are not checked: a guest's own folders may be writable by everybody.
        set_mode(&file, 0o666);
        require_whole(&folder, 2).unwrap();
    }

    #[test]
    fn a_folder_in_one_that_others_can_write_is_theirs_to_replace_unless_that_is_sticky() {
        let parent = tempfile::tempdir().unwrap();
        let above = parent.path().canonicalize().unwrap();
        let folder = above.join("cache");
        fs::create_dir(&folder).unwrap();
        set_mode(&above, 0o1777);
        require_above(&folder).unwrap();
        set_mode(&above, 0o777);
        assert!(matches!(require_above(&folder), Err(ForeignError::WritableByOthers { path, .. }) if path == above));
    }

    #[test]
    fn what_belongs_to_another_is_not_ours_even_behind_a_link() {
        let parent = tempfile::tempdir().unwrap();
        let theirs = parent.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        if chown(&theirs, Some(SOMEBODY), None).is_err() {
            return;
        }
        let folder = parent.path().canonicalize().unwrap().join("cache");
        fs::create_dir(&folder).unwrap();
        symlink("/nowhere/at/all", folder.join("leads nowhere")).unwrap();
        require_whole(&folder, 1).unwrap();
        symlink(&theirs, folder.join("trees")).unwrap();
        for told in [require_whole(&folder, 1), require(&theirs)].map(|result| result.unwrap_err().to_string()) {
            assert!(told.contains("the number 4711") && told.contains("chown -R 0"), "{told}");
        }
    }
}
