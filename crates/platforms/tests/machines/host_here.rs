//! This machine as another host.

use crate::place::skip;
use crate::sshd::Sshd;
use std::path::{Path, PathBuf};

/// `None` if it is not installed and not required.
pub fn sshd() -> Option<Sshd> {
    if !Sshd::is_installed() {
        skip("ssh", "there is no /usr/sbin/sshd");
        return None;
    }
    Some(Sshd::start())
}

/// The folder of all runs of the tests' user on "the other host".
pub fn folder_of_runs(folder: &Path) -> PathBuf {
    folder.join(format!("bakeoff-{}", rustix::process::geteuid().as_raw()))
}

/// The folder of the run there.
pub fn folder_of_run(folder: &Path) -> PathBuf {
    folder_of_runs(folder).join(folder.file_name().unwrap())
}

/// Puts loaded data where such a run keeps them. Returns their path as the platform knows it.
pub fn keep_loaded(loaded: &Path, folder: &Path) -> PathBuf {
    let name = Path::new("data/loaded");
    std::fs::rename(loaded, folder_of_run(folder).join(name)).unwrap();
    name.to_owned()
}
