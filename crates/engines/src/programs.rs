//! Where the programs of a server are, whoever packaged them: a distribution, a vendor's installer, or an archive that was
//! unpacked by hand. Names of folders do not always have the version, so each server that is found is asked for it.

use crate::account::Account;
use crate::server::ServerError;
use crate::version::ServerVersion;
use machines::process::Launch;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The key of `[engine]` that asks for a version.
pub const VERSION: &str = "version";

/// What servers and their programs get for an environment: none of ours.
pub const ENVIRONMENT: [(&str, &str); 3] = [("PATH", "/usr/bin:/bin"), ("LC_ALL", "C"), ("TZ", "UTC")];

/// Printing a version takes milliseconds, or seconds where a guest's processor is emulated and its disk is cold.
const VERSION_LIMIT: Duration = Duration::from_secs(30);

/// What the programs of a product are called, and where packages have them.
#[derive(Debug, Clone, Copy)]
pub struct ProgramPlaces {
    /// Its name in messages.
    pub product: &'static str,
    /// By which arguments the server prints its version. It must not read a file of settings that may not fit.
    pub version_arguments: &'static [&'static str],
    /// Accounts that the server may run under; the first that exists counts.
    pub accounts: &'static [&'static str],
    /// Whether a server that prints this about itself is the product; others have a program of the same name.
    pub is_product: fn(&str) -> bool,
    /// Names of the server. Of several in one folder, the first counts.
    pub servers: &'static [&'static str],
    /// Names of the program that makes a data folder. It is beside the server, or in `bin` or `scripts` next to that folder.
    pub makers: &'static [&'static str],
    /// Folders of the server; a `*` stands for any part of a name.
    pub folders: &'static [&'static str],
}

/// The programs of one installed server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPrograms {
    pub server: PathBuf,
    /// Makes a data folder.
    pub maker: PathBuf,
    pub version: ServerVersion,
}

impl FoundPrograms {
    /// The folder that the product was installed to: `/usr` of `/usr/sbin/mariadbd`.
    pub fn base(&self) -> &Path {
        self.server.ancestors().nth(2).unwrap_or(Path::new("/"))
    }
}

/// How a server is asked for its version: what it prints, or why it does not.
type Asking<'a> = dyn Fn(&Path) -> Result<String, String> + 'a;

impl ProgramPlaces {
    /// The programs of the version that an engine's table asks for; of the newest unless it does. Anybody may have put a
    /// program into such a folder, so it runs as the server will.
    pub fn find(&self, table: &Map<String, Value>) -> Result<FoundPrograms, ServerError> {
        let account = Account::choose(self.accounts)?;
        self.find_below(Path::new("/"), table.get(VERSION).and_then(Value::as_str), &|server| {
            printed(server, self.version_arguments, account)
        })
    }

    fn find_below(&self, root: &Path, asked: Option<&str>, ask: &Asking<'_>) -> Result<FoundPrograms, ServerError> {
        let (mut found, mut unfit) = (Vec::new(), Vec::new());
        for server in self.candidates(root) {
            match self.programs(&server, ask) {
                Ok(programs) => found.push(programs),
                Err(why) => unfit.push(format!("; {} {why}", server.display())),
            }
        }
        if found.is_empty() {
            let looked_for = format!("{} with {}", self.servers.join(" or "), self.makers.join(" or "));
            let places = self.folders.join(", ");
            return Err(ServerError::Missing { product: self.product, looked_for, places, unfit: unfit.concat() });
        }
        let is_of = |programs: &FoundPrograms, asked: &str| {
            ServerVersion::asked(asked).is_some_and(|asked| programs.version.is_of(&asked))
        };
        let fits = |programs: &&FoundPrograms| asked.is_none_or(|asked| is_of(programs, asked));
        // Of equal versions the first place counts.
        let newest = found.iter().rev().filter(fits).max_by_key(|programs| &programs.version).cloned();
        newest.ok_or_else(|| ServerError::OtherVersions {
            product: self.product,
            asked: asked.unwrap_or_default().to_owned(),
            there: listed(&found),
        })
    }

    /// The servers in all folders. One that several names lead to counts once.
    fn candidates(&self, root: &Path) -> Vec<PathBuf> {
        let mut seen = Vec::new();
        let folders = self.folders.iter().flat_map(|pattern| folders_like(root, pattern));
        let servers = folders.filter_map(|folder| first_of(&[folder], self.servers));
        servers
            .filter(|server| {
                let real = server.canonicalize().unwrap_or_else(|_| server.clone());
                let is_new = !seen.contains(&real);
                seen.push(real);
                is_new
            })
            .collect()
    }

    /// The programs of the server in this file, or why they cannot be used, as the rest of a sentence.
    fn programs(&self, server: &Path, ask: &Asking<'_>) -> Result<FoundPrograms, String> {
        let folder = server.parent().unwrap_or(Path::new("/"));
        let base = folder.parent().unwrap_or(folder);
        let beside = [folder.to_owned(), base.join("bin"), base.join("scripts")];
        let maker =
            first_of(&beside, self.makers).ok_or_else(|| format!("has no {} beside it", self.makers.join(" or ")))?;
        let said = ask(server).map_err(|why| format!("does not print its version: {why}"))?;
        let version = ServerVersion::printed(&said).filter(|_| (self.is_product)(&said));
        let version = version.ok_or_else(|| format!("says that it is {:?}", said.trim()))?;
        Ok(FoundPrograms { server: server.to_owned(), maker, version })
    }
}

/// "15.18 (/usr/lib/postgresql/15/bin/postgres), 17.2 (…)", the oldest first.
fn listed(found: &[FoundPrograms]) -> String {
    let mut found: Vec<&FoundPrograms> = found.iter().collect();
    found.sort_by_key(|programs| &programs.version);
    let shown = found.iter().map(|programs| format!("{} ({})", programs.version, programs.server.display()));
    shown.collect::<Vec<_>>().join(", ")
}

/// The first of these files that is there, folder by folder.
fn first_of(folders: &[PathBuf], names: &[&str]) -> Option<PathBuf> {
    folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name))).find(|path| path.is_file())
}

/// The folders below `root` that the pattern leads to.
fn folders_like(root: &Path, pattern: &str) -> Vec<PathBuf> {
    pattern.split('/').filter(|name| !name.is_empty()).fold(vec![root.to_owned()], |folders, name| {
        match name.split_once('*') {
            None => folders.into_iter().map(|folder| folder.join(name)).collect(),
            Some((start, end)) => folders.iter().flat_map(|folder| names_like(folder, start, end)).collect(),
        }
    })
}

fn names_like(folder: &Path, start: &str, end: &str) -> Vec<PathBuf> {
    let fits = |name: &str| name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(fits)).map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn printed(program: &Path, arguments: &[&str], account: Account) -> Result<String, String> {
    // Not our working folder, which the account may not be allowed to read.
    let launch = Launch::new(&[program]).args(arguments).environment(&ENVIRONMENT).folder(Path::new("/"));
    let launch = account.run(launch);
    launch.run(VERSION_LIMIT, &mut |_| ()).map(|ended| ended.stdout).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql;
    use tempfile::TempDir;

    /// A tree with these files, each with its text. A server's text stands for what it prints.
    fn tree(files: &[(&str, &str)]) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    /// The server, the maker and the version that are found, or the error, with paths from the tree's root.
    fn found(places: &ProgramPlaces, files: &[(&str, &str)], asked: Option<&str>) -> String {
        let root = tree(files);
        let ask = |server: &Path| fs::read_to_string(server).map_err(|error| error.to_string());
        let told = match places.find_below(root.path(), asked, &ask) {
            Ok(found) => {
                let base = found.base().display();
                format!("{} {} {} {base}", found.version, found.server.display(), found.maker.display())
            }
            Err(error) => error.to_string(),
        };
        let told = told.replace(&format!("{}/", root.path().display()), "/");
        told.replace(&root.path().display().to_string(), "/")
    }

    fn postgres(files: &[(&str, &str)], asked: Option<&str>) -> String {
        found(&crate::postgres::PLACES, files, asked)
    }

    fn mariadb(files: &[(&str, &str)]) -> String {
        found(&mysql::PLACES, files, None)
    }

    const OF_15: [(&str, &str); 2] = [
        ("usr/lib/postgresql/15/bin/postgres", "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"),
        ("usr/lib/postgresql/15/bin/initdb", ""),
    ];
    const OF_9: [(&str, &str); 2] = [
        ("usr/lib/postgresql/9.6/bin/postgres", "postgres (PostgreSQL) 9.6.24"),
        ("usr/lib/postgresql/9.6/bin/initdb", ""),
    ];
    const OF_17: [(&str, &str); 2] =
        [("usr/pgsql-17/bin/postgres", "postgres (PostgreSQL) 17.2"), ("usr/pgsql-17/bin/initdb", "")];

    #[test]
    fn the_newest_version_is_found_by_its_numbers_wherever_it_is() {
        let all = [OF_15, OF_9, OF_17].concat();
        let told = [postgres(&all[..4], None), postgres(&all, None)].join("\n");
        insta::assert_snapshot!(told, @"
        15.18 /usr/lib/postgresql/15/bin/postgres /usr/lib/postgresql/15/bin/initdb /usr/lib/postgresql/15
        17.2 /usr/pgsql-17/bin/postgres /usr/pgsql-17/bin/initdb /usr/pgsql-17
        ");
    }

    #[test]
    fn every_vendors_place_is_looked_at() {
        for folder in [
            "usr/lib/postgresql/16/bin",
            "usr/lib/postgresql16/bin",
            "usr/pgsql-16/bin",
            "opt/PostgreSQL/16/bin",
            "opt/pgpro/bin",
            "usr/local/pgsql/bin",
            "usr/local/bin",
            "usr/bin",
        ] {
            let files =
                [(format!("{folder}/postgres"), "postgres (PostgreSQL) 16.1"), (format!("{folder}/initdb"), "")];
            let files = [0, 1].map(|place| (files[place].0.as_str(), files[place].1));
            assert!(
                postgres(&files, None).starts_with(&format!("16.1 /{folder}/postgres /{folder}/initdb ")),
                "{folder}"
            );
        }
        for (server, maker, base) in [
            ("usr/sbin/mariadbd", "usr/bin/mariadb-install-db", "usr"),
            ("usr/libexec/mariadbd", "usr/bin/mariadb-install-db", "usr"),
            ("usr/libexec/mysqld", "usr/bin/mysql_install_db", "usr"),
            ("usr/bin/mariadbd", "usr/bin/mariadb-install-db", "usr"),
            ("usr/local/mysql/bin/mariadbd", "usr/local/mysql/scripts/mariadb-install-db", "usr/local/mysql"),
            ("opt/mariadb-11.4/bin/mariadbd", "opt/mariadb-11.4/scripts/mysql_install_db", "opt/mariadb-11.4"),
        ] {
            let told = mariadb(&[(server, "mariadbd  Ver 11.4.2-MariaDB for Linux on x86_64"), (maker, "")]);
            assert_eq!(told, format!("11.4.2 /{server} /{maker} /{base}"));
        }
    }

    #[test]
    fn the_asked_version_is_taken_or_those_that_are_there_are_named() {
        let all = [OF_17, OF_15, OF_9].concat();
        for (asked, version) in [("15", "15.18 "), ("9.6", "9.6.24 "), ("17.2", "17.2 ")] {
            assert!(postgres(&all, Some(asked)).starts_with(version), "{asked}");
        }
        insta::assert_snapshot!([postgres(&all, Some("16")), postgres(&OF_17, Some("latest"))].join("\n"), @"
        PostgreSQL 16 is not in this machine; there is 9.6.24 (/usr/lib/postgresql/9.6/bin/postgres), 15.18 (/usr/lib/postgresql/15/bin/postgres), 17.2 (/usr/pgsql-17/bin/postgres)
        PostgreSQL latest is not in this machine; there is 17.2 (/usr/pgsql-17/bin/postgres)
        ");
    }

    #[test]
    fn a_server_that_cannot_be_used_is_named_with_the_places_that_were_looked_at() {
        let mysql = "mysqld  Ver 9.7.4 for Linux on x86_64 (Debian)";
        let told = [
            postgres(&[("usr/share/postgres", "")], None),
            postgres(&[("usr/bin/postgres", "postgres (PostgreSQL) 17.2")], None),
            mariadb(&[("usr/sbin/mysqld", mysql), ("usr/bin/mysql_install_db", "")]),
        ];
        insta::assert_snapshot!(told.join("\n"), @r#"
        PostgreSQL is not in this machine: looked for postgres with initdb in /usr/lib/postgresql/*/bin, /usr/lib/postgresql*/bin, /usr/pgsql-*/bin, /opt/PostgreSQL/*/bin, /opt/*/bin, /usr/local/pgsql/bin, /usr/local/bin, /usr/bin
        PostgreSQL is not in this machine: looked for postgres with initdb in /usr/lib/postgresql/*/bin, /usr/lib/postgresql*/bin, /usr/pgsql-*/bin, /opt/PostgreSQL/*/bin, /opt/*/bin, /usr/local/pgsql/bin, /usr/local/bin, /usr/bin; /usr/bin/postgres has no initdb beside it
        MariaDB is not in this machine: looked for mariadbd or mysqld with mariadb-install-db or mysql_install_db in /usr/sbin, /usr/libexec, /usr/bin, /usr/local/mysql/bin, /usr/local/mariadb/bin, /opt/mariadb*/bin; /usr/sbin/mysqld says that it is "mysqld  Ver 9.7.4 for Linux on x86_64 (Debian)"
        "#);
    }

    #[test]
    fn a_server_with_several_names_counts_once() {
        let root = tree(&[("usr/sbin/mariadbd", "mariadbd  Ver 11.4.2-MariaDB"), ("usr/sbin/mariadb-install-db", "")]);
        std::os::unix::fs::symlink("sbin", root.path().join("usr/bin")).unwrap();
        std::os::unix::fs::symlink("mariadbd", root.path().join("usr/sbin/mysqld")).unwrap();
        let candidates = mysql::PLACES.candidates(root.path());
        assert_eq!(candidates, [root.path().join("usr/sbin/mariadbd")]);
    }

    #[test]
    fn the_version_is_what_the_program_prints_to_the_account_of_the_server() {
        let account = Account::choose(&["nobody"]).unwrap();
        let told = printed(Path::new("/bin/true"), &["--version"], account).unwrap();
        assert!(ServerVersion::printed(&told).is_some(), "{told}");
        let why = printed(Path::new("/bin/false"), &["--version"], account).unwrap_err();
        assert!(why.contains("false failed"), "{why}");
        let user = printed(Path::new("/usr/bin/id"), &["--user"], account).unwrap();
        assert_ne!(user.trim(), "0");
    }

    #[test]
    fn the_docs_list_every_place() {
        let docs = include_str!("../../../docs/images.md");
        for places in [crate::postgres::PLACES, mysql::PLACES] {
            let listed: Vec<String> = places.folders.iter().map(|folder| format!("`{folder}`")).collect();
            assert!(docs.contains(&listed.join(", ")), "{listed:?}");
            assert!(places.servers.iter().chain(places.makers).all(|name| docs.contains(&format!("`{name}`"))));
        }
    }
}
