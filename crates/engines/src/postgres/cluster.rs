//! The data folder of a server, the programs that make and run it, and the folder of its socket.

use super::account::Account;
use super::process::Process;
use crate::server::{ServerError, ServerPlace};
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where Debian puts PostgreSQL, one folder for each major version.
pub const INSTALLED: &str = "/usr/lib/postgresql";

/// Who may log in: everybody through the socket, whose folder is private; over TCP only with the password.
const LOGIN_RULES: &str = "\
# type  database  user  address  method
local   all       all            trust
host    all       all   all      scram-sha-256
";

/// Making a data folder takes seconds; minutes where a guest's processor is emulated.
const INIT_LIMIT: Duration = Duration::from_mins(10);

/// The longest socket path the kernel takes is 107 bytes; the server adds a slash and ".s.PGSQL.65535.lock".
const LONGEST_SOCKET_FOLDER: usize = 107 - 20;

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

/// The same surroundings everywhere: our environment must not reach the server, and it must stand where it may read.
pub fn prepare<'c>(command: &'c mut Command, account: Account, stand: &Path) -> &'c mut Command {
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").env("TZ", "UTC").current_dir(stand);
    account.run(command)
}

/// The data folder, made if the data disk has none. It is renamed into place when it is complete, so one that a lost
/// machine left half made is not taken for a database.
pub fn make_if_missing(programs: &Programs, account: Account, place: &ServerPlace) -> Result<PathBuf, ServerError> {
    let data = place.data.join("postgres");
    fs::create_dir_all(&place.logs).map_err(|source| failed("creating", &place.logs, source))?;
    if !data.exists() {
        let unfinished = place.data.join("postgres.unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished).map_err(|source| failed("removing", &unfinished, source))?;
        }
        private_folder(&unfinished, account)?;
        init(programs, account, place, &unfinished)?;
        fs::rename(&unfinished, &data).map_err(|source| failed("renaming", &unfinished, source))?;
    }
    let rules = data.join("pg_hba.conf");
    fs::write(&rules, LOGIN_RULES).map_err(|source| failed("writing", &rules, source))?;
    Ok(data)
}

fn init(programs: &Programs, account: Account, place: &ServerPlace, data: &Path) -> Result<(), ServerError> {
    let mut command = Command::new(programs.init());
    // Comparing text by its bytes is the same everywhere; a locale is as old as the system that brings it.
    command.args(["--no-locale", "--encoding=UTF8", "--username=postgres", "--auth=trust", "--pgdata"]).arg(data);
    prepare(&mut command, account, &place.data);
    Process::start("initdb", &mut command, &place.logs.join("initdb.log"))?.finish(INIT_LIMIT)
}

/// A private folder for the socket: on the data disk, or in /tmp if that path is too long for a socket.
pub fn socket_folder(account: Account, place: &ServerPlace) -> Result<PathBuf, ServerError> {
    let near = place.data.join("postgres.socket");
    let folder = if near.as_os_str().len() <= LONGEST_SOCKET_FOLDER {
        near
    } else {
        PathBuf::from(format!("/tmp/bakeoff-postgres-{}", std::process::id()))
    };
    private_folder(&folder, account)?;
    Ok(folder)
}

fn private_folder(path: &Path, account: Account) -> Result<(), ServerError> {
    const OWNER_ONLY: u32 = 0o700;
    DirBuilder::new()
        .recursive(true)
        .mode(OWNER_ONLY)
        .create(path)
        .and_then(|()| fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY)))
        .map_err(|source| failed("creating", path, source))?;
    account.own(path)
}

fn failed(doing: &str, path: &Path, source: io::Error) -> ServerError {
    ServerError::Io { doing: format!("{doing} {}", path.display()), source }
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
