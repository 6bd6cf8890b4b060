//! Whether a run's folder is unchanged: a hash of the names, sizes and times of the files behind its figures.
//!
//! It stands for the contents, which are not read. It includes the time of the last change of a file's inode. Nobody
//! can set that back, unlike the modification time.

use analysis::many_runs::hexadecimal;
use sha2::{Digest, Sha256};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::LazyLock;

/// From the folder of trials down to the files of a machine's database.
const LEVELS: u32 = 6;

/// Another build may compute other figures from the same record. A build without a revision is identified by its file. Runs link to
/// that file, which changes its inode.
static BUILD: LazyLock<Option<String>> = LazyLock::new(|| {
    let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let modified = (program.mtime(), program.mtime_nsec());
    Some(format!("{} {} {modified:?}", crate::origin::made_by(), program.len()))
});

/// `None` if it cannot be computed; the run is then analysed each time.
pub fn of_run(run: &Path) -> Option<String> {
    let mut hash = Sha256::new();
    hash.update(BUILD.as_ref()?);
    hash.update(run.file_name()?.as_bytes());
    for name in ["study.toml", "plan.json", "host.json"] {
        let of_file = fs::metadata(run.join(name)).map(|metadata| told(&metadata));
        hash.update(format!("{name} {}\n", of_file.unwrap_or_else(|error| error.kind().to_string())));
    }
    add(&mut hash, &run.join("trials"), LEVELS).ok()?;
    Some(hexadecimal(&hash.finalize()))
}

fn add(hash: &mut Sha256, folder: &Path, levels: u32) -> io::Result<()> {
    let listed = match fs::read_dir(folder) {
        // Nothing has been run yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        listed => listed?,
    };
    let mut paths = listed.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let metadata = fs::metadata(&path)?;
        let is_folder = metadata.is_dir();
        hash.update(path.file_name().unwrap_or_default().as_bytes());
        hash.update(format!("/{is_folder} {}\n", if is_folder { String::new() } else { told(&metadata) }));
        if !is_folder {
            continue;
        }
        // A link may form a circle, and a record is not that deep.
        if levels == 0 || fs::symlink_metadata(&path)?.is_symlink() {
            return Err(io::Error::other("not a folder of a record"));
        }
        add(hash, &path, levels - 1)?;
        hash.update("end\n");
    }
    Ok(())
}

fn told(file: &Metadata) -> String {
    let (modified, changed) = ((file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec()));
    format!("{} {modified:?} {changed:?}", file.len())
}

#[cfg(test)]
mod tests {
    use super::of_run;
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    #[test]
    fn what_figures_are_made_from_changes_it_and_what_is_made_of_them_does_not() {
        let parent = tempfile::tempdir().unwrap();
        let run = parent.path().join("run");
        let trial = run.join("trials/0001/machines/1");
        fs::create_dir_all(&trial).unwrap();
        fs::write(run.join("plan.json"), "{}").unwrap();
        fs::write(trial.join("trial.json"), "one").unwrap();
        let before = of_run(&run).unwrap();
        fs::write(run.join("report.html"), "made of it").unwrap();
        assert_eq!(of_run(&run).unwrap(), before);

        let modified = fs::metadata(trial.join("trial.json")).unwrap().modified().unwrap();
        let rewritten = || {
            fs::write(trial.join("trial.json"), "two").unwrap();
            File::options().write(true).open(trial.join("trial.json")).unwrap().set_modified(modified).unwrap();
            of_run(&run).unwrap()
        };
        // File times advance in steps of some milliseconds.
        let changed =
            (0..1_000_000).map(|_| rewritten()).find(|now| *now != before).expect("of the same size and time");
        fs::write(trial.join("findings.json"), "[]").unwrap();
        let more = of_run(&run).unwrap();
        assert_ne!(more, changed);
        fs::rename(&run, parent.path().join("renamed")).unwrap();
        assert_ne!(of_run(&parent.path().join("renamed")).unwrap(), more);
    }

    #[test]
    fn a_circle_of_links_has_none() {
        let run = tempfile::tempdir().unwrap();
        fs::create_dir(run.path().join("trials")).unwrap();
        symlink("..", run.path().join("trials/0001")).unwrap();
        assert_eq!(of_run(run.path()), None);
    }
}
