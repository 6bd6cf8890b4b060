//! The data folder of a server, and the programs that make and run it.

use super::ABORT;
use crate::account::Account;
use crate::own_server::{INIT_LIMIT, data_folder, failed, surroundings};
use crate::process::LoggedProcess;
use crate::server::{ServerError, ServerPlace};
use machines::process::Launch;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of Debian's PostgreSQL, with one folder for each major version.
pub const INSTALLED: &str = "/usr/lib/postgresql";

/// Login rules: everybody through the socket, whose folder is private; over TCP only with the password.
const LOGIN_RULES: &str = "\
# type  database  user  address  method
local   all       all            trust
host    all       all   all      scram-sha-256
";

/// The folder of one version's programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs(PathBuf);

impl Programs {
    /// The newest version below `installed`.
    pub fn find(installed: &Path) -> Result<Self, ServerError> {
        let missing =
            |source| ServerError::Missing { program: format!("{}/*/bin/postgres", installed.display()), source };
        let versions = fs::read_dir(installed).map_err(missing)?;
        let versions = versions.filter_map(|entry| {
            let entry = entry.ok()?;
            let major: u32 = entry.file_name().to_str()?.parse().ok()?;
            entry.path().join("bin/postgres").exists().then(|| (major, entry.path().join("bin")))
        });
        let newest = versions.max().map(|(_, folder)| Self(folder));
        newest.ok_or_else(|| missing(io::ErrorKind::NotFound.into()))
    }

    pub fn server(&self) -> PathBuf {
        self.0.join("postgres")
    }

    fn init(&self) -> PathBuf {
        self.0.join("initdb")
    }
}

/// The data folder, which is made if the data disk has none.
pub fn make_if_missing(programs: &Programs, account: Account, place: &ServerPlace) -> Result<PathBuf, ServerError> {
    fs::create_dir_all(&place.logs).map_err(|source| failed("creating", &place.logs, source))?;
    let data = data_folder(&place.data, "postgres", account, |data| init(programs, account, place, data))?;
    let rules = data.join("pg_hba.conf");
    fs::write(&rules, LOGIN_RULES).map_err(|source| failed("writing", &rules, source))?;
    Ok(data)
}

fn init(programs: &Programs, account: Account, place: &ServerPlace, data: &Path) -> Result<(), ServerError> {
    let launch = Launch::new(&[programs.init()])
        // Comparing text by its bytes is the same everywhere, but a locale's order depends on the system's version.
        .args(["--no-locale", "--encoding=UTF8", "--username=postgres", "--auth=trust", "--pgdata"])
        .args([data]);
    let launch = surroundings(launch, account, &place.data);
    LoggedProcess::start("initdb", launch, &place.logs.join("initdb.log"), ABORT)?.finish(INIT_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(folder: &Path, version: &str) {
        fs::create_dir_all(folder.join(version).join("bin")).unwrap();
        fs::write(folder.join(version).join("bin/postgres"), "").unwrap();
    }

    #[test]
    fn the_newest_version_is_found_by_number() {
        let folder = tempfile::tempdir().unwrap();
        install(folder.path(), "9");
        install(folder.path(), "15");
        fs::create_dir_all(folder.path().join("17/share")).unwrap();
        fs::create_dir_all(folder.path().join("common")).unwrap();
        assert_eq!(Programs::find(folder.path()).unwrap().server(), folder.path().join("15/bin/postgres"));
    }

    #[test]
    fn an_image_without_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = Programs::find(folder.path()).unwrap_err();
        assert!(matches!(error, ServerError::Missing { .. }), "{error}");
    }
}
