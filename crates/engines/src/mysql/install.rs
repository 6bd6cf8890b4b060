//! Where the programs of a server are, and the data folder that they make.

use crate::account::Account;
use crate::own_server::{INIT_LIMIT, data_folder, failed, surroundings};
use crate::process::LoggedProcess;
use crate::programs::{FoundPrograms, ProgramPlaces};
use crate::server::{ServerError, ServerPlace};
use machines::process::Launch;
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};

/// Debian's, Red Hat's, distributions without such folders, and MariaDB's archives. Older versions have MySQL's names.
pub const PLACES: ProgramPlaces = ProgramPlaces {
    product: "MariaDB",
    version_arguments: &["--no-defaults", "--version"],
    // MariaDB refuses to run as root. Debian's package of a whole server makes the first account. The package of the bare
    // server makes none, and the second exists everywhere.
    accounts: &["mysql", "nobody"],
    is_product: |printed| printed.contains("MariaDB"),
    servers: &["mariadbd", "mysqld"],
    makers: &["mariadb-install-db", "mysql_install_db"],
    folders: &[
        "/usr/sbin",
        "/usr/libexec",
        "/usr/bin",
        "/usr/local/mysql/bin",
        "/usr/local/mariadb/bin",
        "/opt/mariadb*/bin",
    ],
};

/// The database with all our tables. Text compares by its bytes, as on every other engine.
pub const DATABASE: &str = "bakeoff";

/// Ends the server "at once": it is one process, and recovery cleans up what it leaves.
pub const ABORT: Signal = Signal::KILL;

/// Sets up logins: only `root`, without a password, through the socket, whose folder is private.
const FIRST_SCRIPT: &str = include_str!("sql/first.sql");

/// The data folder, which is made if the data disk has none.
pub fn make_if_missing(
    programs: &FoundPrograms,
    account: Account,
    scratch: &Path,
    place: &ServerPlace,
) -> Result<PathBuf, ServerError> {
    fs::create_dir_all(&place.logs).map_err(|source| failed("creating", &place.logs, source))?;
    data_folder(&place.data, "mariadb", account, |data| init(programs, account, scratch, place, data))
}

fn init(
    programs: &FoundPrograms,
    account: Account,
    scratch: &Path,
    place: &ServerPlace,
    data: &Path,
) -> Result<(), ServerError> {
    let script = data.join("first.sql");
    fs::write(&script, FIRST_SCRIPT).map_err(|source| failed("writing", &script, source))?;
    account.own(&script)?;
    let launch = Launch::new(&[&programs.maker])
        .args(["--no-defaults".to_owned(), base_option(programs), format!("--datadir={}", data.display())])
        .args(["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"])
        .args([format!("--extra-file={}", script.display()), format!("--tmpdir={}", scratch.display())]);
    let launch = surroundings(launch, account, &place.data);
    LoggedProcess::start("mariadb-install-db", launch, &place.logs.join("mariadb-install-db.log"), ABORT)?
        .finish(INIT_LIMIT)?;
    fs::remove_file(&script).map_err(|source| failed("removing", &script, source))
}

/// Programs find their files and each other below this folder.
pub fn base_option(programs: &FoundPrograms) -> String {
    format!("--basedir={}", programs.base().display())
}
