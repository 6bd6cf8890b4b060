//! Which kernel guests boot: this host's own, one of Debian's, or one in a file; and where each finds its modules.

use crate::cache::CacheError;
use crate::kernel::KernelError;
use crate::{Cache, Kernel};
use serde::Deserialize;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The file in a folder of modules that lists what is built into the kernel.
pub(crate) const BUILT_IN: &str = "modules.builtin";

/// Words of a study for kernels that are not paths.
const HOST: &str = "host";

/// Where distributions put the kernel of a release, followed by what comes behind the release in a path.
const PLACES: [(&str, &str); 3] =
    [("boot/vmlinuz-", ""), ("lib/modules/", "/vmlinuz"), ("usr/lib/modules/", "/vmlinuz")];

/// A kernel's first bytes, as its boot protocol has them: a sign, and the place of its release behind the first sector.
const SIGN: (usize, &[u8]) = (0x202, b"HdrS");
const RELEASE_AT: usize = 0x20e;
const SECTOR_BYTES: usize = 0x200;
/// The release is in the part that runs in real mode, which a number of two bytes reaches.
const HEAD_BYTES: u64 = 66 << 10;

/// A package of Debian's that brings a kernel, and the suite that it is taken from.
#[derive(Debug, PartialEq, Eq)]
pub struct DebianKernel {
    pub name: &'static str,
    pub(crate) suite: &'static str,
    pub(crate) package: &'static str,
    /// The same release with every driver; `None` if this one has them all.
    pub with_every_driver: Option<&'static str>,
}

const DEBIAN: &[DebianKernel] = &[
    DebianKernel {
        name: "debian-12",
        suite: "bookworm",
        package: "linux-image-cloud-amd64",
        with_every_driver: Some("debian-12-generic"),
    },
    DebianKernel {
        name: "debian-12-generic",
        suite: "bookworm",
        package: "linux-image-amd64",
        with_every_driver: None,
    },
    DebianKernel {
        name: "debian-13",
        suite: "trixie",
        package: "linux-image-cloud-amd64",
        with_every_driver: Some("debian-13-generic"),
    },
    DebianKernel { name: "debian-13-generic", suite: "trixie", package: "linux-image-amd64", with_every_driver: None },
];

/// The kernel that guests boot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum KernelChoice {
    /// This host's own.
    Host,
    Debian(&'static DebianKernel),
    /// A vmlinuz with its modules beside it.
    File(PathBuf),
}

/// Where a kernel is taken from.
pub(crate) enum KernelSource {
    /// Files of this host.
    Here(Kernel),
    Package(&'static DebianKernel),
}

impl KernelChoice {
    /// For virtual machines: small, with the drivers of clouds only.
    pub const DEBIAN_12: Self = Self::Debian(&DEBIAN[0]);
    pub const DEBIAN_12_GENERIC: Self = Self::Debian(&DEBIAN[1]);
    pub const DEBIAN_13: Self = Self::Debian(&DEBIAN[2]);

    /// All words that are not paths.
    pub fn words() -> impl Iterator<Item = &'static str> {
        [HOST].into_iter().chain(DEBIAN.iter().map(|kernel| kernel.name))
    }

    /// The word for a word of old studies, else one that is spelt alike.
    pub fn nearest(word: &str) -> Option<&'static str> {
        match word {
            "cloud" => Some("debian-12"),
            "generic" => Some("debian-12-generic"),
            _ => settings::nearest(word, Self::words()),
        }
    }

    /// This host's own kernel if guests can boot it, else Debian 12's.
    pub fn of_this_host() -> Self {
        if running().is_ok() { Self::Host } else { Self::DEBIAN_12 }
    }

    /// How the cache calls it.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::Host => HOST,
            Self::Debian(kernel) => kernel.name,
            Self::File(_) => "file",
        }
    }

    /// Where it is taken from.
    pub(crate) fn source(&self) -> Result<KernelSource, KernelError> {
        Ok(match self {
            Self::Host => KernelSource::Here(running()?),
            Self::Debian(package) => KernelSource::Package(package),
            Self::File(file) => KernelSource::Here(in_file(file)?),
        })
    }

    /// Why no guest can boot it.
    pub fn lacking(&self) -> Option<String> {
        self.source().err().map(|error| error.to_string())
    }

    /// The release that a guest will boot. A kernel of Debian's that was not fetched yet has none.
    pub fn release(&self, cache: &Path) -> Result<Option<String>, KernelError> {
        match self.source()? {
            KernelSource::Here(kernel) => Ok(Some(kernel.release)),
            KernelSource::Package(package) => Ok(crate::kernel::fetched(package, &Cache::open(cache)?)?),
        }
    }
}

impl Default for KernelChoice {
    fn default() -> Self {
        Self::DEBIAN_12
    }
}

impl fmt::Display for KernelChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => file.display().fmt(formatter),
            other => other.label().fmt(formatter),
        }
    }
}

impl FromStr for KernelChoice {
    type Err = KernelError;

    fn from_str(word: &str) -> Result<Self, KernelError> {
        if word.starts_with('/') {
            return Ok(Self::File(word.into()));
        }
        let debian = DEBIAN.iter().find(|kernel| kernel.name == word).map(Self::Debian);
        let known = debian.or_else(|| (word == HOST).then_some(Self::Host));
        known.ok_or_else(|| KernelError::Unknown { word: word.to_owned() })
    }
}

impl TryFrom<String> for KernelChoice {
    type Error = KernelError;

    fn try_from(word: String) -> Result<Self, KernelError> {
        word.parse()
    }
}

/// The kernel that runs this host.
fn running() -> Result<Kernel, KernelError> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    of_host(Path::new("/"), &release).map_err(|why| KernelError::NoneOfHost { why })
}

/// The kernel of this release where distributions put it below `root`.
fn of_host(root: &Path, release: &str) -> Result<Kernel, String> {
    let files = PLACES.map(|(before, behind)| root.join(format!("{before}{release}{behind}")));
    let mut refused = None;
    for file in &files {
        match in_file(file) {
            Ok(kernel) if kernel.release == release => return Ok(kernel),
            Ok(kernel) => {
                refused.get_or_insert(format!("{} has release {}, not {release}", file.display(), kernel.release));
            }
            Err(KernelError::Cache(CacheError::Io { cause, .. })) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                refused.get_or_insert(error.to_string());
            }
        }
    }
    let none =
        || format!("{release} is at none of {}", files.each_ref().map(|file| file.display().to_string()).join(", "));
    Err(refused.unwrap_or_else(none))
}

/// The kernel in this file. Its modules are in a folder `modules` or `lib/modules/RELEASE` beside it, around it, or where a package
/// that was unpacked has them.
pub(crate) fn in_file(file: &Path) -> Result<Kernel, KernelError> {
    let head = head(file)?;
    let wrong = |problem: String| KernelError::File { file: file.to_owned(), problem };
    let release = release(&head).ok_or_else(|| wrong("it is no Linux kernel for x86-64".to_owned()))?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let above = folder.parent().unwrap_or(folder);
    let of_release = |parent: &Path, lib: &str| parent.join(lib).join("modules").join(&release);
    let places = [
        folder.join("modules"),
        folder.to_owned(),
        of_release(folder, "lib"),
        of_release(above, "lib"),
        of_release(above, "usr/lib"),
    ];
    let modules = places.iter().find(|place| place.join(BUILT_IN).is_file());
    let modules = modules.ok_or_else(|| {
        let places = places.each_ref().map(|place| place.display().to_string()).join(", ");
        wrong(format!("no modules of its release {release} ({BUILT_IN}) are in {places}"))
    })?;
    Ok(Kernel { file: file.to_owned(), modules: modules.clone(), release })
}

fn head(file: &Path) -> Result<Vec<u8>, KernelError> {
    let mut head = Vec::new();
    match File::open(file).and_then(|opened| opened.take(HEAD_BYTES).read_to_end(&mut head)) {
        Ok(_) => Ok(head),
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
            let problem = format!("this user may not read it; `sudo chmod a+r {}` lets all users", file.display());
            Err(KernelError::File { file: file.to_owned(), problem })
        }
        Err(cause) => Err(CacheError::io("read", file)(cause).into()),
    }
}

/// The release in a kernel's first bytes. It becomes part of paths.
fn release(head: &[u8]) -> Option<String> {
    head.get(SIGN.0..)?.starts_with(SIGN.1).then_some(())?;
    let at = usize::from(u16::from_le_bytes(head.get(RELEASE_AT..RELEASE_AT + 2)?.try_into().ok()?));
    let words = head.get(at + SECTOR_BYTES..)?;
    let release = words.split(|&byte| byte == b' ' || byte == 0).next()?;
    let is_plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"+-._~".contains(&byte);
    let fits = !release.is_empty() && release[0] != b'.' && release.iter().all(is_plain);
    fits.then(|| String::from_utf8_lossy(release).into_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// The first bytes of a kernel, as its boot protocol has them.
    pub fn kernel_file(release: &str) -> Vec<u8> {
        let mut file = vec![0; 0x400];
        file[SIGN.0..SIGN.0 + 4].copy_from_slice(SIGN.1);
        file[RELEASE_AT..RELEASE_AT + 2].copy_from_slice(&0x200_u16.to_le_bytes());
        file.extend(format!("{release} (builder@debian) #1 SMP\0").into_bytes());
        file.resize(0x1000, 0x90);
        file
    }

    fn place(root: &Path, file: &str, release: &str, modules: &str) -> PathBuf {
        let file = root.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, kernel_file(release)).unwrap();
        fs::create_dir_all(root.join(modules)).unwrap();
        fs::write(root.join(modules).join(BUILT_IN), "").unwrap();
        file
    }

    const RELEASE: &str = "6.12.48+deb13-amd64";

    #[test]
    fn the_hosts_kernel_is_found_where_distributions_put_it() {
        for (file, modules) in [
            (format!("boot/vmlinuz-{RELEASE}"), format!("usr/lib/modules/{RELEASE}")),
            (format!("lib/modules/{RELEASE}/vmlinuz"), format!("lib/modules/{RELEASE}")),
            (format!("usr/lib/modules/{RELEASE}/vmlinuz"), format!("usr/lib/modules/{RELEASE}")),
        ] {
            let root = tempfile::tempdir().unwrap();
            let none = of_host(root.path(), RELEASE).unwrap_err();
            assert!(
                none.starts_with(&format!("{RELEASE} is at none of ")) && none.contains("/boot/vmlinuz-"),
                "{none}"
            );
            let file = place(root.path(), &file, RELEASE, &modules);
            let found = of_host(root.path(), RELEASE).unwrap();
            assert_eq!(found, Kernel { release: RELEASE.into(), file, modules: root.path().join(modules) });
        }
    }

    #[test]
    fn a_kernel_that_cannot_be_read_or_is_another_is_a_reason() {
        let root = tempfile::tempdir().unwrap();
        let modules = format!("lib/modules/{RELEASE}");
        let file = place(root.path(), &format!("boot/vmlinuz-{RELEASE}"), "6.12.47+deb13-amd64", &modules);
        let other = of_host(root.path(), RELEASE).unwrap_err();
        assert!(other.contains("no modules of its release 6.12.47+deb13-amd64"), "{other}");
        fs::create_dir_all(root.path().join("boot/modules")).unwrap();
        fs::write(root.path().join("boot/modules").join(BUILT_IN), "").unwrap();
        let other = of_host(root.path(), RELEASE).unwrap_err();
        assert!(other.ends_with(&format!("has release 6.12.47+deb13-amd64, not {RELEASE}")), "{other}");
        fs::write(&file, "text").unwrap();
        assert!(of_host(root.path(), RELEASE).unwrap_err().ends_with("it is no Linux kernel for x86-64"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
        // Root reads it all the same.
        if File::open(&file).is_err() {
            let unreadable = of_host(root.path(), RELEASE).unwrap_err();
            assert!(unreadable.contains("this user may not read it; `sudo chmod a+r "), "{unreadable}");
        }
        // Another place has it.
        place(root.path(), &format!("lib/modules/{RELEASE}/vmlinuz"), RELEASE, &modules);
        assert_eq!(of_host(root.path(), RELEASE).unwrap().release, RELEASE);
    }

    #[test]
    fn modules_lie_beside_a_kernel_or_in_an_unpacked_package() {
        for (file, modules) in [
            ("vmlinuz".to_owned(), "modules".to_owned()),
            ("vmlinuz".to_owned(), format!("lib/modules/{RELEASE}")),
            (format!("boot/vmlinuz-{RELEASE}"), format!("usr/lib/modules/{RELEASE}")),
        ] {
            let root = tempfile::tempdir().unwrap();
            let file = place(root.path(), &file, RELEASE, &modules);
            assert_eq!(in_file(&file).unwrap().modules, root.path().join(modules));
        }
    }

    #[test]
    fn a_release_becomes_no_path_elsewhere() {
        assert_eq!(release(&kernel_file(RELEASE)).unwrap(), RELEASE);
        for wrong in ["../../etc", "/etc", "..", ""] {
            assert_eq!(release(&kernel_file(wrong)), None, "{wrong}");
        }
        let file = kernel_file(RELEASE);
        for end in [0, SIGN.0, RELEASE_AT + 1, SECTOR_BYTES] {
            assert_eq!(release(&file[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_choice_is_a_word_or_a_path() {
        for word in KernelChoice::words().chain(["/boot/vmlinuz"]) {
            assert_eq!(word.parse::<KernelChoice>().unwrap().to_string(), word);
        }
        assert_eq!("debian-12".parse::<KernelChoice>().unwrap(), KernelChoice::DEBIAN_12);
        assert_eq!("debian-13".parse::<KernelChoice>().unwrap(), KernelChoice::DEBIAN_13);
        let refused = |word: &str| word.parse::<KernelChoice>().unwrap_err().to_string();
        assert_eq!(
            refused("cloud"),
            "there is no kernel `cloud` (did you mean `debian-12`?); there are: host, debian-12, debian-12-generic, debian-13, \
             debian-13-generic, or the path of a vmlinuz"
        );
        assert!(refused("generic").contains("(did you mean `debian-12-generic`?)"));
        assert!(refused("debian13").contains("(did you mean `debian-13`?)"));
        assert!(!refused("boot/vmlinuz").contains("did you mean"));
    }
}
