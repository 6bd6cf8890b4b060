//! The data folder of a server, and where the programs are that make and run it.

use super::ABORT;
use crate::account::Account;
use crate::own_server::{INIT_LIMIT, data_folder, failed, surroundings};
use crate::process::LoggedProcess;
use crate::programs::{FoundPrograms, ProgramPlaces};
use crate::server::{ServerError, ServerPlace};
use machines::process::Launch;
use std::fs;
use std::path::{Path, PathBuf};

/// Debian's, SUSE's, the PostgreSQL project's own packages for Red Hat, EDB's installer, other vendors, built from source,
/// and distributions with one version.
pub const PLACES: ProgramPlaces = ProgramPlaces {
    product: "PostgreSQL",
    version_arguments: &["--version"],
    accounts: &["postgres"],
    is_product: |printed| printed.contains("(PostgreSQL)"),
    servers: &["postgres"],
    makers: &["initdb"],
    folders: &[
        "/usr/lib/postgresql/*/bin",
        "/usr/lib/postgresql*/bin",
        "/usr/pgsql-*/bin",
        "/opt/PostgreSQL/*/bin",
        "/opt/*/bin",
        "/usr/local/pgsql/bin",
        "/usr/local/bin",
        "/usr/bin",
    ],
};

/// Login rules: everybody through the socket, whose folder is private; over TCP only with the password.
const LOGIN_RULES: &str = "\
# type  database  user  address  method
local   all       all            trust
host    all       all   all      scram-sha-256
";

/// The data folder, which is made if the data disk has none.
pub fn make_if_missing(
    programs: &FoundPrograms,
    checksums: Option<&str>,
    account: Account,
    place: &ServerPlace,
) -> Result<PathBuf, ServerError> {
    fs::create_dir_all(&place.logs).map_err(|source| failed("creating", &place.logs, source))?;
    let checksums = checksums.and_then(|wish| checksums_option(programs, wish == "on"));
    let data = data_folder(&place.data, "postgres", account, |data| init(programs, checksums, account, place, data))?;
    let rules = data.join("pg_hba.conf");
    fs::write(&rules, LOGIN_RULES).map_err(|source| failed("writing", &rules, source))?;
    Ok(data)
}

/// Since 18 pages have checksums unless it is refused, and no version before knows how to refuse it.
fn checksums_option(programs: &FoundPrograms, is_wanted: bool) -> Option<&'static str> {
    match (is_wanted, programs.version.major() >= 18) {
        (true, _) => Some("--data-checksums"),
        (false, true) => Some("--no-data-checksums"),
        (false, false) => None,
    }
}

fn init(
    programs: &FoundPrograms,
    checksums: Option<&str>,
    account: Account,
    place: &ServerPlace,
    data: &Path,
) -> Result<(), ServerError> {
    let launch = Launch::new(&[&programs.maker])
        .args(checksums)
        // Comparing text by its bytes is the same everywhere, but a locale's order depends on the system's version.
        .args(["--no-locale", "--encoding=UTF8", "--username=postgres", "--auth=trust", "--pgdata"])
        .args([data]);
    let launch = surroundings(launch, account, &place.data);
    LoggedProcess::start("initdb", launch, &place.logs.join("initdb.log"), ABORT)?.finish(INIT_LIMIT)
}
