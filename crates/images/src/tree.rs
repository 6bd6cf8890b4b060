//! Root trees: mmdebstrap makes an archive of what a recipe asks for, and the archive is unpacked into a folder.
//!
//! Through an archive, a user, who cannot own files of other users, builds the same tree as root does. Nothing in the
//! tree may gain privileges, and nothing of this host (its name, its name servers) stays in it.

use crate::cache::{CacheError, walk};
use crate::recipe::{Recipe, RecipeFile};
use crate::sources::{self, PackageArchives, PackageOrigin, SourcesError};
use crate::tool::{MMDEBSTRAP, TAR, ToolError};
use machines::boot::AGENT_FILE;
use machines::process::ProcessError;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest build: with a slow mirror and a large server.
const BOOTSTRAP_LIMIT: Duration = Duration::from_mins(30);
const UNPACK_LIMIT: Duration = Duration::from_mins(10);

/// Files in an archive have no times later than this (2023-11-14), so that two builds of the same packages are alike.
pub(crate) const SOURCE_DATE_EPOCH: &str = "1700000000";

/// Empty folders that platforms mount on.
const MOUNT_POINTS: &[&str] = &["proc", "sys", "dev", "run/bakeoff", "tmp", "data"];

/// Files that are copied from the host into every new tree, and must not stay.
const TRACES_OF_THE_HOST: &[&str] = &["etc/resolv.conf", "etc/hostname"];

/// The file in an unpacked tree that lists what was unpacked. Packages that are not installed are in no other list.
const UNPACKED_LIST: &str = "packages-unpacked";

const SET_ID_BITS: u32 = 0o6000;

#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error(transparent)]
    Sources(#[from] SourcesError),
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("{advice}; {cause}")]
    Bootstrap { cause: ProcessError, advice: &'static str },
}

/// What mmdebstrap should make.
pub(crate) struct Contents<'a> {
    origin: PackageOrigin<'a>,
    /// mmdebstrap's name for the set of packages that are installed without being listed.
    variant: &'static str,
    packages: Vec<&'a str>,
    excludes: Vec<&'a str>,
    files: &'a [RecipeFile],
}

impl<'a> Contents<'a> {
    /// A package and its dependencies, unpacked but not installed.
    pub fn unpacked(suite: &'a str, package: &'a str) -> Self {
        let origin = PackageOrigin::of_suite(suite);
        Contents { origin, variant: "extract", packages: vec![package], excludes: Vec::new(), files: &[] }
    }

    /// Debian's essential packages and the recipe's, installed; `None` if the recipe has no packages.
    pub fn installed(recipe: &'a Recipe) -> Option<Self> {
        let words = |list: &'a [String]| list.iter().map(String::as_str).collect();
        let suite = recipe.suite.as_deref().filter(|_| !recipe.packages.is_empty())?;
        let Recipe { mirror, keyring, allow_expired, .. } = recipe;
        let (mirror, keyring, allow_expired) = (mirror.as_deref(), keyring.as_deref(), *allow_expired);
        let origin = PackageOrigin { suite, mirror, keyring, allow_expired };
        let (packages, excludes) = (words(&recipe.packages), words(&recipe.excludes));
        Some(Contents { origin, variant: "essential", packages, excludes, files: &recipe.files })
    }

    /// mmdebstrap's arguments. Pure.
    fn arguments(&self, archives: &PackageArchives, files: &Path, archive: &Path) -> Vec<String> {
        let mut arguments = vec![
            "--mode=auto".to_owned(),
            format!("--variant={}", self.variant),
            "--format=tar".to_owned(),
            format!("--include={}", self.packages.join(",")),
        ];
        arguments.extend(archives.keyring.as_ref().map(|keyring| format!("--keyring={}", keyring.display())));
        if self.origin.allow_expired {
            arguments.push(r#"--aptopt=Acquire::Check-Valid-Until "false""#.to_owned());
        }
        arguments.extend(self.excludes.iter().map(|pattern| format!("--dpkgopt=path-exclude={pattern}")));
        if self.variant == "extract" {
            arguments.push(format!("--extract-hook=ls \"$1/var/cache/apt/archives\" > \"$1/{UNPACKED_LIST}\""));
        } else {
            arguments.push(format!("--essential-hook=sync-in {} /", quoted(files)));
        }
        arguments.extend([self.origin.suite.to_owned(), archive.display().to_string()]);
        arguments.extend(archives.entries.iter().cloned());
        arguments
    }
}

/// A path quoted so that a shell takes it as one word, whatever it contains.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// Makes the archive in `work`; returns its path.
pub(crate) fn bootstrap(
    contents: &Contents,
    work: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, TreeError> {
    let archives = sources::archives(Path::new("/"), &contents.origin)?;
    if archives.entries.is_empty() {
        progress("taking packages from Debian's own archive, since this host's apt sources name none of Debian's");
    }
    let (files, archive) = (work.join("files"), work.join("tree.tar"));
    fs::create_dir(&files).map_err(CacheError::io("create", &files))?;
    write_files(contents.files, &files)?;
    let mut call = MMDEBSTRAP.call_contained()?.args(contents.arguments(&archives, &files, &archive));
    call = call.env("SOURCE_DATE_EPOCH", SOURCE_DATE_EPOCH);
    if rustix::process::geteuid().is_root() {
        // Its temporary tree is then removed with our work folder, even if it is killed. For users the tree must stay
        // where their subordinate user ids can reach it.
        call = call.env("TMPDIR", work);
    }
    let made = call.run(BOOTSTRAP_LIMIT, &mut |line| {
        if let Some(step) = step_of(line) {
            progress(step);
        }
    });
    made.map_err(|cause| match advice_on(&cause) {
        Some(advice) => TreeError::Bootstrap { cause, advice },
        None => ToolError::from(cause).into(),
    })?;
    Ok(archive)
}

/// The step that mmdebstrap says it has begun; its remarks on users and folders are only for errors.
fn step_of(line: &str) -> Option<&str> {
    line.strip_prefix("I: ")?.strip_suffix("...").filter(|step| !step.contains('/'))
}

/// Advice to a user on a failed build, as far as its last lines show.
fn advice_on(error: &ProcessError) -> Option<&'static str> {
    let ProcessError::Failed { tail, .. } = error else { return None };
    let says = |words: &[&str]| words.iter().any(|word| tail.contains(word));
    if says(&["Could not resolve", "Could not connect", "Connection failed", "Temporary failure", "unreachable"]) {
        Some("the archive named in this host's apt sources cannot be reached; check network, proxy and sources")
    } else if says(&["NO_PUBKEY", "public key is not available"]) {
        Some("the keys on this host do not know this release; name a newer key file as `keyring` in the recipe")
    } else if says(&[" is expired ", " is not valid anymore"]) {
        Some("the archive's list of packages is past its date; `allow_expired = true` in the recipe accepts that")
    } else if says(&["does not have a Release file"]) {
        Some("the archive does not have the recipe's suite; another one can be named as `mirror` in the recipe")
    } else if says(&["No space left on device"]) {
        Some("the disk is full")
    } else if says(&["Unable to locate package", "has no installation candidate"]) {
        Some("a package of the recipe is not in the archive")
    } else {
        Some("Debian's packages cannot be had; `apt-get update` on this host uses the same archive and may say more")
    }
}

/// Unpacks an archive into a folder beside it, and removes the archive.
pub(crate) fn unpack(archive: &Path, work: &Path) -> Result<PathBuf, TreeError> {
    let tree = work.join("tree");
    fs::create_dir(&tree).map_err(CacheError::io("create", &tree))?;
    // Users cannot make device nodes, and platforms mount their own `dev`.
    let call = TAR.call()?.args(["--extract", "--preserve-permissions", "--exclude=./dev/*", "--file"]);
    let call = call.args([archive, Path::new("--directory"), &tree]);
    call.run(UNPACK_LIMIT, &mut |_| ()).map_err(ToolError::from)?;
    fs::remove_file(archive).map_err(CacheError::io("remove", archive))?;
    Ok(tree)
}

/// An empty tree, for recipes without packages.
pub(crate) fn empty(work: &Path) -> Result<PathBuf, TreeError> {
    let tree = work.join("tree");
    fs::create_dir(&tree).map_err(CacheError::io("create", &tree))?;
    Ok(tree)
}

/// Gives a tree its mount points and the recipe's files, and removes what must not be in it.
pub(crate) fn finish(tree: &Path, files: &[RecipeFile]) -> Result<(), TreeError> {
    for trace in TRACES_OF_THE_HOST.iter().map(|trace| tree.join(trace)).filter(|path| path.symlink_metadata().is_ok())
    {
        fs::remove_file(&trace).map_err(CacheError::io("remove", &trace))?;
    }
    for point in MOUNT_POINTS.iter().map(|point| tree.join(point)) {
        fs::create_dir_all(&point).map_err(CacheError::io("create", &point))?;
    }
    // gVisor makes a file that it mounts on and does not find, in the tree that all machines share.
    let agent = tree.join(AGENT_FILE.trim_start_matches('/'));
    fs::write(&agent, "").map_err(CacheError::io("create", &agent))?;
    write_files(files, tree)?;
    let mut privileged = Vec::new();
    walk(tree, &mut |path, metadata| {
        let mode = metadata.permissions().mode();
        if metadata.is_file() && mode & SET_ID_BITS != 0 {
            privileged.push((path.to_owned(), mode & !SET_ID_BITS));
        }
    })?;
    for (path, mode) in privileged {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map_err(CacheError::io("change", &path))?;
    }
    Ok(())
}

fn write_files(files: &[RecipeFile], tree: &Path) -> Result<(), CacheError> {
    for file in files {
        let path = tree.join(file.path.strip_prefix("/").unwrap_or(&file.path));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(CacheError::io("create", folder))?;
        }
        fs::write(&path, &file.text).map_err(CacheError::io("write", &path))?;
    }
    Ok(())
}

/// The packages installed in a tree, as `name=version`, sorted.
pub(crate) fn installed_packages(tree: &Path) -> Result<Vec<String>, TreeError> {
    let path = tree.join("var/lib/dpkg/status");
    let status = fs::read_to_string(&path).map_err(CacheError::io("read", &path))?;
    Ok(packages_of_status(&status))
}

fn packages_of_status(status: &str) -> Vec<String> {
    let field = |stanza: &str, name: &str| {
        stanza.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
    };
    let installed =
        status.split("\n\n").filter(|stanza| field(stanza, "Status").is_some_and(|s| s.ends_with(" installed")));
    let mut packages: Vec<String> = installed
        .filter_map(|stanza| Some(format!("{}={}", field(stanza, "Package")?, field(stanza, "Version")?)))
        .collect();
    packages.sort();
    packages
}

/// The packages unpacked in a tree, as `name=version`, sorted.
pub(crate) fn unpacked_packages(tree: &Path) -> Result<Vec<String>, TreeError> {
    let path = tree.join(UNPACKED_LIST);
    let list = fs::read_to_string(&path).map_err(CacheError::io("read", &path))?;
    let mut packages: Vec<String> = list.lines().filter_map(package_of_file).collect();
    packages.sort();
    Ok(packages)
}

/// apt keeps files named `name_version_architecture.deb`, with colons written as `%3a`.
fn package_of_file(file: &str) -> Option<String> {
    let mut parts = file.strip_suffix(".deb")?.split('_');
    Some(format!("{}={}", parts.next()?, parts.next()?.replace("%3a", ":")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    #[test]
    fn of_what_mmdebstrap_says_only_steps_are_progress() {
        assert_eq!(step_of("I: downloading packages with apt..."), Some("downloading packages with apt"));
        assert_eq!(step_of("I: removing tempdir /cache/tree.building/mmdebstrap.x..."), None);
        assert_eq!(step_of("W: Download is performed unsandboxed as root..."), None);
        assert_eq!(step_of("I: success in 5.1 seconds"), None);
    }

    #[test]
    fn the_recipe_becomes_arguments() {
        let recipe = crate::find("postgres", None).unwrap();
        let contents = Contents::installed(&recipe).unwrap();
        let entries = vec!["deb http://mirror.example/debian bookworm main".to_owned()];
        let archives = PackageArchives { entries, keyring: None };
        let installed = contents.arguments(&archives, Path::new("/w/files"), Path::new("/w/tree.tar"));
        let contents = Contents::unpacked("bookworm", "linux-image-amd64");
        let unpacked = contents.arguments(&archives, Path::new("/w/files"), Path::new("/w/tree.tar"));
        assert_snapshot!([installed, vec![String::new()], unpacked].concat().join("\n"), @r#"
        --mode=auto
        --variant=essential
        --format=tar
        --include=postgresql-15
        --dpkgopt=path-exclude=/usr/share/doc/*
        --dpkgopt=path-exclude=/usr/share/info/*
        --dpkgopt=path-exclude=/usr/share/locale/*
        --dpkgopt=path-exclude=/usr/share/man/*
        --essential-hook=sync-in '/w/files' /
        bookworm
        /w/tree.tar
        deb http://mirror.example/debian bookworm main

        --mode=auto
        --variant=extract
        --format=tar
        --include=linux-image-amd64
        --extract-hook=ls "$1/var/cache/apt/archives" > "$1/packages-unpacked"
        bookworm
        /w/tree.tar
        deb http://mirror.example/debian bookworm main
        "#);
    }

    #[test]
    fn an_expired_release_and_the_keys_of_debians_own_archive_become_arguments() {
        let recipe = crate::find("postgres-18", None).unwrap();
        let archives = PackageArchives { entries: Vec::new(), keyring: Some("/k/debian.gpg".into()) };
        let contents = Contents::installed(&recipe).unwrap();
        let arguments = contents.arguments(&archives, Path::new("/w/files"), Path::new("/w/tree.tar"));
        for argument in ["--keyring=/k/debian.gpg", r#"--aptopt=Acquire::Check-Valid-Until "false""#] {
            assert!(arguments.iter().any(|other| other == argument), "{arguments:?}");
        }
        assert_eq!(arguments[arguments.len() - 2..], ["sid", "/w/tree.tar"]);
    }

    #[test]
    fn only_installed_packages_count() {
        let status = "Package: b\nStatus: install ok installed\nVersion: 1:2-3\nDescription: x\n more\n\n\
                      Package: a\nVersion: 1\nStatus: deinstall ok config-files\n\n\
                      Package: a2\nStatus: install ok installed\nVersion: 7\n";
        assert_eq!(packages_of_status(status), ["a2=7", "b=1:2-3"]);
    }

    #[test]
    fn versions_are_read_from_file_names() {
        assert_eq!(package_of_file("passwd_1%3a4.13+dfsg1-1_amd64.deb").unwrap(), "passwd=1:4.13+dfsg1-1");
        assert_eq!(package_of_file("lock"), None);
        assert_eq!(package_of_file("partial"), None);
    }

    #[test]
    fn a_finished_tree_has_mount_points_no_privileges_and_no_traces_of_the_host() {
        let place = tempfile::tempdir().unwrap();
        let tree = empty(place.path()).unwrap();
        fs::create_dir_all(tree.join("usr/bin")).unwrap();
        fs::create_dir_all(tree.join("etc")).unwrap();
        fs::write(tree.join("usr/bin/su"), "").unwrap();
        fs::set_permissions(tree.join("usr/bin/su"), fs::Permissions::from_mode(0o4755)).unwrap();
        std::os::unix::fs::symlink("/run/nowhere", tree.join("etc/resolv.conf")).unwrap();
        fs::write(tree.join("etc/hostname"), "builder").unwrap();
        let file = RecipeFile { path: "/opt/a/b".into(), text: "text".into() };
        finish(&tree, &[file]).unwrap();
        assert_eq!(tree.join("usr/bin/su").metadata().unwrap().permissions().mode() & 0o7777, 0o755);
        assert_eq!(fs::read_dir(tree.join("etc")).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(tree.join("opt/a/b")).unwrap(), "text");
        assert!(MOUNT_POINTS.iter().all(|point| tree.join(point).is_dir()));
        assert!(tree.join("run/bakeoff/agent").is_file());
    }

    #[test]
    fn advice_follows_from_the_last_words() {
        use std::os::unix::process::ExitStatusExt;
        let advice = |tail: &str| {
            let status = std::process::ExitStatus::from_raw(0x100);
            advice_on(&ProcessError::Failed { program: "mmdebstrap".to_owned(), status, tail: tail.to_owned() })
                .unwrap()
        };
        assert!(advice("  W: GPG error: x sid InRelease: NO_PUBKEY 6ED0E7B82643E131").contains("`keyring`"));
        assert!(
            advice("  E: Release file for http://x/InRelease is expired (invalid since 3d)").contains("allow_expired")
        );
        assert!(
            advice("  E: The repository 'http://x etch Release' does not have a Release file.").contains("`mirror`")
        );
        assert!(advice("  Temporary failure resolving 'mirror.example'").contains("cannot be reached"));
        assert!(advice("  E: Unable to locate package x").contains("not in the archive"));
        assert!(advice("  write error: No space left on device").contains("full"));
        assert!(advice("  something else").contains("apt-get update"));
    }
}
