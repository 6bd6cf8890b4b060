//! Where Debian's packages come from: the archive that a recipe names, else this host's own apt sources, and only Debian's
//! among them.
//!
//! Hosts may have other vendors' entries beside Debian's, a nearby mirror, or another release than the image's. So the
//! entries are read, filtered, and rewritten for the release that a recipe asks for. A host without any, such as one of
//! another distribution, gets what mmdebstrap takes by itself: Debian's own archive. No mirror is named here.

use std::path::{Path, PathBuf};

/// What follows a release's name in the suites that belong to a Debian installation.
const SUITE_SUFFIXES: &[&str] = &["", "-updates", "-security"];

/// Suites that are updated themselves, so nothing follows their names.
const WITHOUT_UPDATES: &[&str] = &["sid", "unstable", "experimental"];

/// Suites of Debian itself. Other vendors use such names, too, so the key, or else the address, must fit as well.
const RELEASES: &[&str] =
    &["oldstable", "stable", "testing", "unstable", "sid", "bullseye", "bookworm", "trixie", "forky", "duke"];

/// Part of the file name of the keys that Debian signs its archive with.
const DEBIAN_KEYRING: &str = "debian-archive";

/// Where the package `debian-archive-keyring` has Debian's keys, on Debian and on other distributions.
const DEBIAN_KEYRINGS: [&str; 2] =
    ["usr/share/keyrings/debian-archive-keyring.gpg", "usr/share/keyrings/debian-archive-keyring.pgp"];

#[derive(Debug, thiserror::Error)]
pub enum SourcesError {
    #[error("cannot read apt's sources in {}: {cause}", .path.display())]
    Unreadable { path: PathBuf, cause: std::io::Error },
    #[error("there is no key file {}, which the recipe names as its keyring", .path.display())]
    NoKeyring { path: PathBuf },
    #[error(
        "this host has no keys of Debian's archive ({}); install the package debian-archive-keyring, or name a key file as \
         `keyring` in the recipe",
        .looked_for.display()
    )]
    NoDebianKeys { looked_for: PathBuf },
}

/// The part of a recipe that says where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackageOrigin<'a> {
    pub suite: &'a str,
    pub mirror: Option<&'a str>,
    pub keyring: Option<&'a Path>,
    pub allow_expired: bool,
}

impl<'a> PackageOrigin<'a> {
    /// As the host has it.
    pub fn of_suite(suite: &'a str) -> Self {
        Self { suite, mirror: None, keyring: None, allow_expired: false }
    }
}

/// Where mmdebstrap finds packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackageArchives {
    /// Entries in apt's one-line form. Without any, mmdebstrap takes Debian's own archive.
    pub entries: Vec<String>,
    /// The keys for an archive that no entry names.
    pub keyring: Option<PathBuf>,
}

/// The archives for these packages, for a host whose files are below `root`.
pub(crate) fn archives(root: &Path, origin: &PackageOrigin<'_>) -> Result<PackageArchives, SourcesError> {
    let named = origin.keyring.map(|path| {
        let missing = || SourcesError::NoKeyring { path: path.to_owned() };
        path.is_file().then(|| path.to_owned()).ok_or_else(missing)
    });
    let named = named.transpose()?;
    let key_of_debian = || named.clone().map_or_else(|| debian_keyring(root), Ok);
    if let Some(mirror) = origin.mirror {
        let entry = format!("deb [signed-by={}] {mirror} {} main", key_of_debian()?.display(), origin.suite);
        return Ok(PackageArchives { entries: vec![entry], keyring: None });
    }
    let entries = debian_entries(&root.join("etc/apt"), origin.suite, named.as_deref())?;
    let keyring = if entries.is_empty() { Some(key_of_debian()?) } else { None };
    Ok(PackageArchives { entries, keyring })
}

fn debian_keyring(root: &Path) -> Result<PathBuf, SourcesError> {
    let mut places = DEBIAN_KEYRINGS.iter().map(|place| root.join(place));
    let missing = || SourcesError::NoDebianKeys { looked_for: root.join(DEBIAN_KEYRINGS[0]) };
    places.find(|path| path.is_file()).ok_or_else(missing)
}

/// One archive in one suite.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SourceEntry {
    uri: String,
    suite: String,
    components: Vec<String>,
    /// A key file, if one is named by path. For a key written into the entry itself, apt's own keys are used instead.
    signed_by: Option<String>,
    /// Options that decide whether apt trusts the archive, as written in a one-line entry.
    trust: Vec<String>,
}

/// Entries in apt's one-line form, for `suite`, from the host's Debian archives; none if it has no such archive. `apt` is
/// `/etc/apt`. A key file that is given takes the place of the host's.
fn debian_entries(apt: &Path, suite: &str, keyring: Option<&Path>) -> Result<Vec<String>, SourcesError> {
    let mut entries = Vec::new();
    for path in source_files(apt)? {
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|cause| SourcesError::Unreadable { path: path.clone(), cause })?;
        let is_list = path.extension().is_some_and(|extension| extension == "list");
        entries.extend(if is_list { read_one_line_entries(&text) } else { read_stanzas(&text) });
    }
    entries.retain(SourceEntry::is_debian);
    if let Some(keyring) = keyring {
        for entry in &mut entries {
            entry.signed_by = Some(keyring.display().to_string());
        }
    }
    Ok(lines_for_suite(&entries, suite))
}

fn source_files(apt: &Path) -> Result<Vec<PathBuf>, SourcesError> {
    let mut files = Vec::new();
    let parts = apt.join("sources.list.d");
    match std::fs::read_dir(&parts) {
        Ok(folder) => {
            let is_source = |path: &PathBuf| path.extension().is_some_and(|e| e == "list" || e == "sources");
            files.extend(folder.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(is_source));
        }
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
        Err(cause) => return Err(SourcesError::Unreadable { path: parts, cause }),
    }
    files.push(apt.join("sources.list"));
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

/// Debian's entries, moved to `suite`, without duplicates. Empty if the release itself is not among them.
fn lines_for_suite(entries: &[SourceEntry], suite: &str) -> Vec<String> {
    let mut lines: Vec<(bool, String)> = Vec::new();
    for entry in entries {
        let suffix = entry.suffix();
        if !SUITE_SUFFIXES.contains(&suffix) || !suffix.is_empty() && WITHOUT_UPDATES.contains(&suite) {
            continue;
        }
        let line = (suffix.is_empty(), entry.line(&format!("{suite}{suffix}")));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if !lines.iter().any(|(is_release, _)| *is_release) {
        return Vec::new();
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

impl SourceEntry {
    fn release(&self) -> &str {
        self.suite.split(['-', '/']).next().unwrap_or_default()
    }

    /// "-updates" of "bookworm-updates"; empty for the release itself.
    fn suffix(&self) -> &str {
        &self.suite[self.release().len()..]
    }

    /// Signed by Debian's keys; or, if no key file is named, in every other way like Debian's archive.
    fn is_debian(&self) -> bool {
        let is_main = self.components.iter().any(|component| component == "main");
        let is_archive = self.uri.split('/').any(|part| part.starts_with("debian"));
        let by_key = self.signed_by.as_ref().map(|path| path.contains(DEBIAN_KEYRING));
        is_main && RELEASES.contains(&self.release()) && !self.uri.starts_with("cdrom:") && by_key.unwrap_or(is_archive)
    }

    fn line(&self, suite: &str) -> String {
        let key = self.signed_by.as_ref().map(|path| format!("signed-by={path}"));
        let options: Vec<String> = key.into_iter().chain(self.trust.iter().cloned()).collect();
        let options = if options.is_empty() { String::new() } else { format!("[{}] ", options.join(" ")) };
        format!("deb {options}{} {suite} main", self.uri)
    }
}

/// Reads the classic form: `deb [options] URI suite component...`, one entry on each line.
fn read_one_line_entries(text: &str) -> Vec<SourceEntry> {
    text.lines().filter_map(read_one_line_entry).collect()
}

fn read_one_line_entry(line: &str) -> Option<SourceEntry> {
    let rest = line.split('#').next()?.trim().strip_prefix("deb")?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    let (uri, suite) = (words.next()?, words.next()?);
    let option = |name: &str| {
        options.split_whitespace().find_map(|option| option.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
    };
    let trust = ["trusted", "check-valid-until", "allow-insecure"];
    let trust = trust.iter().filter_map(|name| Some(format!("{name}={}", option(name)?))).collect();
    let signed_by = option("signed-by");
    Some(SourceEntry { uri, suite, components: words.collect(), signed_by, trust })
}

/// Reads the newer form: stanzas of `Field: value` lines, each with several URIs and suites.
fn read_stanzas(text: &str) -> Vec<SourceEntry> {
    let plain: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    plain.split(|line| line.trim().is_empty()).flat_map(read_stanza).collect()
}

fn read_stanza(lines: &[&str]) -> Vec<SourceEntry> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in lines {
        match line.split_once(':').filter(|_| !line.starts_with(char::is_whitespace)) {
            Some((name, value)) => fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned())),
            None => {
                if let Some((_, value)) = fields.last_mut() {
                    value.push('\n');
                    value.push_str(line.trim());
                }
            }
        }
    }
    let field = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let words = |name: &str| field(name).unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let is_off = field("enabled").is_some_and(|value| ["no", "false", "off", "0"].contains(&value));
    if is_off || !words("types").iter().any(|kind| kind == "deb") {
        return Vec::new();
    }
    let key = field("signed-by").unwrap_or_default();
    let trust = ["trusted", "check-valid-until", "allow-insecure"];
    let trust: Vec<String> = trust.iter().filter_map(|name| Some(format!("{name}={}", field(name)?))).collect();
    let entry = |uri: &String, suite: &String| SourceEntry {
        uri: uri.clone(),
        suite: suite.clone(),
        components: words("components"),
        signed_by: key.starts_with('/').then(|| key.to_owned()),
        trust: trust.clone(),
    };
    words("uris")
        .iter()
        .flat_map(|uri| words("suites").iter().map(|suite| entry(uri, suite)).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

    /// A host with these files below `/etc/apt`, and with Debian's keys.
    fn host(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let files = files.iter().map(|(name, text)| (format!("etc/apt/{name}"), *text));
        for (name, text) in files.chain([(DEBIAN_KEYRINGS[0].to_owned(), "keys")]) {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    fn lines_of(files: &[(&str, &str)], suite: &str) -> Vec<String> {
        archives(host(files).path(), &PackageOrigin::of_suite(suite)).unwrap().entries
    }

    #[test]
    fn stanzas_of_debian_are_taken_and_other_vendors_left() {
        let debian = format!(
            "Types: deb deb-src\n# a remark\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\n\
             \x20bookworm-backports\nComponents: main contrib\nSigned-By: {KEY}\n\n\
             Types: deb\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\nComponents: main\n\
             Signed-By: {KEY}\n\nTypes: deb\nEnabled: no\nURIs: http://off.example/debian\nSuites: bookworm\n\
             Components: main\n"
        );
        let vendor = "Types: deb\nURIs: http://vendor.example/debian\nSuites: bookworm\nComponents: main\n\
                      Signed-By: /usr/share/keyrings/vendor.gpg\n";
        let files = [("sources.list.d/debian.sources", debian.as_str()), ("sources.list.d/vendor.sources", vendor)];
        let expected = [
            format!("deb [signed-by={KEY}] http://mirror.example/debian bookworm main"),
            format!("deb [signed-by={KEY}] http://mirror.example/debian bookworm-updates main"),
            format!("deb [signed-by={KEY}] http://mirror.example/debian-security bookworm-security main"),
        ];
        assert_eq!(lines_of(&files, "bookworm"), expected);
    }

    #[test]
    fn one_line_entries_keep_what_makes_apt_accept_them() {
        let list = "# deb http://old.example/debian bookworm main\n\
                    deb-src http://mirror.example/debian bookworm main\n\
                    deb [arch=amd64 check-valid-until=no] http://snapshot.example/archive/debian/2025 bookworm main\n\
                    deb [signed-by=/k/vendor.gpg] http://vendor.example/debian bookworm main\n\
                    deb http://vendor.example/packages bookworm main\n\
                    deb cdrom:[Debian]/ bookworm main\n";
        let expected = ["deb [check-valid-until=no] http://snapshot.example/archive/debian/2025 bookworm main"];
        assert_eq!(lines_of(&[("sources.list", list)], "bookworm"), expected);
    }

    #[test]
    fn a_host_of_another_release_serves_the_asked_one() {
        let list = "deb http://mirror.example/debian trixie main\ndeb http://mirror.example/debian-security trixie-security main\n";
        let expected = [
            "deb http://mirror.example/debian bookworm main",
            "deb http://mirror.example/debian-security bookworm-security main",
        ];
        assert_eq!(lines_of(&[("sources.list", list)], "bookworm"), expected);
        assert_eq!(lines_of(&[("sources.list", list)], "sid"), ["deb http://mirror.example/debian sid main"]);
    }

    #[test]
    fn a_host_without_an_archive_of_debian_gets_debians_own_with_its_keys() {
        let ubuntu = "Types: deb\nURIs: http://mirror.example/ubuntu\nSuites: noble noble-updates\nComponents: main\n\
                      Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg\n";
        let security = "deb http://mirror.example/debian-security bookworm-security main\n";
        for files in [&[][..], &[("sources.list.d/ubuntu.sources", ubuntu)], &[("sources.list", security)]] {
            let host = host(files);
            let found = archives(host.path(), &PackageOrigin::of_suite("bookworm")).unwrap();
            let keyring = Some(host.path().join(DEBIAN_KEYRINGS[0]));
            assert_eq!(found, PackageArchives { entries: Vec::new(), keyring });
            std::fs::remove_file(host.path().join(DEBIAN_KEYRINGS[0])).unwrap();
            let why = archives(host.path(), &PackageOrigin::of_suite("bookworm")).unwrap_err().to_string();
            assert!(why.contains("install the package debian-archive-keyring"), "{why}");
        }
    }

    #[test]
    fn a_recipe_names_its_archive_and_its_keys() {
        let list = format!("deb [signed-by={KEY} check-valid-until=no] http://mirror.example/debian bookworm main\n");
        let host = host(&[("sources.list", &list)]);
        let keys = host.path().join("new.gpg");
        std::fs::write(&keys, "keys").unwrap();
        let of_suite = PackageOrigin::of_suite("trixie");
        let entries = |origin: &PackageOrigin<'_>| archives(host.path(), origin).map(|found| found.entries);
        let with_keys = PackageOrigin { keyring: Some(&keys), ..of_suite };
        let expected =
            format!("deb [signed-by={} check-valid-until=no] http://mirror.example/debian trixie main", keys.display());
        assert_eq!(entries(&with_keys).unwrap(), [expected]);
        let with_mirror = PackageOrigin { mirror: Some("http://own.example/debian"), ..of_suite };
        let of_debian = host.path().join(DEBIAN_KEYRINGS[0]);
        let expected = format!("deb [signed-by={}] http://own.example/debian trixie main", of_debian.display());
        assert_eq!(entries(&with_mirror).unwrap(), [expected]);
        let both = PackageOrigin { keyring: Some(&keys), ..with_mirror };
        let expected = format!("deb [signed-by={}] http://own.example/debian trixie main", keys.display());
        assert_eq!(entries(&both).unwrap(), [expected]);
        let gone = PackageOrigin { keyring: Some(Path::new("/no/such.gpg")), ..of_suite };
        let why = entries(&gone).unwrap_err().to_string();
        assert_eq!(why, "there is no key file /no/such.gpg, which the recipe names as its keyring");
    }
}
