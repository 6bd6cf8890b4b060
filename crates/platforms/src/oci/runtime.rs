//! Which runtime a program is, found out by asking it.

use super::command::{Gvisor, RuntimeFamily};
use super::settings::{GvisorSettings, PACKAGED, WantedPlatform};
use crate::on_host::error::unavailable;
use machines::machine::MachineError;
use machines::process::{Launch, ProcessError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program prints its version and ends within this.
const VERSION_LIMIT: Duration = Duration::from_secs(10);
/// Finds a program where Debian puts those for administrators, too, which are not on the path of every user.
const FIND: &str = r#"PATH=$PATH:/usr/sbin:/sbin command -v -- "$0""#;
/// Options of gVisor that a machine needs. It is too old without them.
const NEEDED: [&str; 3] = ["ignore-cgroups", "overlay2", "file-access-mounts"];

/// A runtime that said who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    pub program: PathBuf,
    pub family: RuntimeFamily,
    /// Name and version, as it prints them: "runc 1.1.5".
    pub version: String,
}

impl Runtime {
    /// The runtime that a study names, or why it cannot be used.
    pub fn find(named: &str) -> Result<Self, MachineError> {
        let program = if named.starts_with('/') { of_path(named)? } else { on_path(named)? };
        let printed = asked(&program, "--version")?;
        let (family, version) = parse_version(&printed).ok_or_else(|| {
            let first = printed.lines().next().unwrap_or("nothing");
            unavailable(format!("{} is no OCI runtime: asked for its version, it prints {first:?}", program.display()))
        })?;
        Ok(Self { program, family, version })
    }

    /// Options of gVisor; `None` for another runtime.
    pub fn gvisor(&self, wanted: Option<GvisorSettings>) -> Result<Option<Gvisor>, MachineError> {
        match (self.family, wanted) {
            (RuntimeFamily::Gvisor, wanted) => {
                let flags = asked(&self.program, "flags")?;
                decide(&flags, wanted.unwrap_or_default(), &self.version).map(Some).map_err(unavailable)
            }
            (_, Some(_)) => Err(unavailable(format!(
                "the study has keys for gVisor, and {} is {}",
                self.program.display(),
                self.version
            ))),
            (_, None) => Ok(None),
        }
    }
}

/// Why nothing can be run at this path; `None` if there is a program.
pub fn lacking(path: &Path) -> Option<String> {
    match fs::metadata(path) {
        Err(error) => Some(format!("runtime = \"{}\" cannot be used: {error}", path.display())),
        Ok(file) if !file.is_file() => Some(format!("runtime = \"{}\" is no file", path.display())),
        Ok(file) if file.permissions().mode() & 0o111 == 0 => {
            Some(format!("runtime = \"{}\" may not be executed; chmod +x allows it", path.display()))
        }
        Ok(_) => None,
    }
}

fn of_path(named: &str) -> Result<PathBuf, MachineError> {
    let path = PathBuf::from(named);
    lacking(&path).map_or(Ok(path), |why| Err(unavailable(why)))
}

fn on_path(named: &str) -> Result<PathBuf, MachineError> {
    let Some(&program) = PACKAGED.iter().find(|known| **known == named) else {
        return Err(unavailable(format!("{named:?} is no runtime")));
    };
    let ended = Launch::new(&["sh", "-c", FIND, program]).run_to_any_end(VERSION_LIMIT, &mut |_| ());
    let found = ended.map_err(|error| failing("looking for", Path::new(program), error))?;
    // Debian's packages have the names of the programs.
    let missing = MachineError::MissingTool { program, package: program };
    if found.status.success() { Ok(PathBuf::from(found.stdout.trim())) } else { Err(missing) }
}

/// What a program prints if it is started with one word.
fn asked(program: &Path, word: &str) -> Result<String, MachineError> {
    let launch = Launch::new(&[program.as_os_str(), word.as_ref()]);
    match launch.run_to_any_end(VERSION_LIMIT, &mut |_| ()) {
        // gVisor prints its options to standard error.
        Ok(ended) if ended.status.success() => Ok(format!("{}\n{}", ended.stdout, ended.stderr).trim().to_owned()),
        Ok(ended) => {
            let last = ended.stderr.lines().last().map_or_else(String::new, |line| format!(": {line}"));
            Err(unavailable(format!("{} {word} ended ({}){last}", program.display(), ended.status)))
        }
        Err(ProcessError::TooLong { limit, .. }) => {
            let (program, limit) = (program.display(), limit.as_secs());
            Err(unavailable(format!("{program} is no OCI runtime: {program} {word} was still running after {limit} s")))
        }
        Err(ProcessError::Missing { .. }) => {
            Err(unavailable(format!("{} is no program that can be run here", program.display())))
        }
        Err(error) => Err(failing("asking", program, error)),
    }
}

fn failing(doing: &str, program: &Path, error: ProcessError) -> MachineError {
    MachineError::Io { doing: format!("{doing} {}", program.display()), source: std::io::Error::other(error) }
}

/// Runtimes print "NAME version VERSION" and then what they are made of.
fn parse_version(printed: &str) -> Option<(RuntimeFamily, String)> {
    let mut words = printed.lines().next()?.split_whitespace();
    let (name, is_version, version) = (words.next()?, words.next()? == "version", words.next()?);
    let family = match name {
        "runc" => RuntimeFamily::Runc,
        "crun" => RuntimeFamily::Crun,
        "runsc" => RuntimeFamily::Gvisor,
        _ => RuntimeFamily::Other,
    };
    is_version.then(|| (family, format!("{name} {version}")))
}

/// Fits the wishes to the options that this gVisor has.
fn decide(flags: &str, wanted: GvisorSettings, version: &str) -> Result<Gvisor, String> {
    let has = |name: &str| option(flags, name).is_some();
    if let Some(lacks) = NEEDED.into_iter().find(|name| !has(name)) {
        return Err(format!("{version} is too old: it has no option --{lacks}; install a newer runsc"));
    }
    let platforms = option(flags, "platform").unwrap_or_default();
    let has_systrap = platforms.contains("systrap");
    let platform = match wanted.platform {
        WantedPlatform::Systrap if !has_systrap => {
            return Err(format!(
                "{version} has no platform systrap, which came in 2023; install a newer runsc, or ask for platform = \
                 \"ptrace\" or \"auto\""
            ));
        }
        WantedPlatform::Auto => {
            if has_systrap {
                "systrap"
            } else {
                "ptrace"
            }
        }
        asked => asked.name(),
    };
    let (directfs, directfs_told) = match (wanted.directfs, option(flags, "directfs")) {
        (Some(true), None) => {
            return Err(format!("{version} has no option --directfs; install a newer runsc, or leave directfs out"));
        }
        (_, None) => (None, "false, since this runsc cannot do it".to_owned()),
        (None, Some(told)) => (None, format!("{}, by default", told.contains("(default true)"))),
        (Some(wanted), Some(_)) => (Some(wanted), wanted.to_string()),
    };
    let GvisorSettings { network, file_access, .. } = wanted;
    Ok(Gvisor { platform: platform.to_owned(), network, file_access, directfs, directfs_told })
}

/// What is printed of an option; `None` if there is no such option. Each begins a line as "-NAME", its text may go on below.
fn option(flags: &str, name: &str) -> Option<String> {
    let named = |line: &str| {
        let rest = line.trim_start().strip_prefix('-')?;
        Some(rest.split([' ', '=', '\t']).next().unwrap_or_default().to_owned())
    };
    let mut lines = flags.lines().skip_while(|line| named(line).as_deref() != Some(name));
    let first = lines.next()?;
    let more = lines.take_while(|line| named(line).is_none());
    Some([first].into_iter().chain(more).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{RuntimeFamily, decide, option, parse_version};
    use crate::oci::settings::{GvisorSettings, WantedPlatform};

    const OLD: &str = "  -file-access-mounts value\n    \tspecifies which filesystem validation to use (default shared)\n  \
        -ignore-cgroups\n    \tdon't configure cgroups.\n  -overlay2 value\n    \twrap mounts\n  \
        -platform string\n    \tspecifies which platform to use: ptrace (default), kvm. (default \"ptrace\")\n";

    fn new() -> String {
        format!(
            "{}  -directfs\n    \tdirectly access the container filesystems (default true)\n",
            OLD.replace("ptrace (default)", "systrap (default), ptrace")
        )
    }

    #[test]
    fn a_runtime_says_which_one_it_is() {
        let parsed = |text: &str| parse_version(text);
        let runc = "runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\nspec: 1.0.2-dev\ngo: go1.19.8\n";
        assert_eq!(parsed(runc), Some((RuntimeFamily::Runc, "runc 1.1.5+ds1".to_owned())));
        assert_eq!(parsed("crun version 1.8.1\ncommit: f8a0"), Some((RuntimeFamily::Crun, "crun 1.8.1".to_owned())));
        assert_eq!(
            parsed("runsc version release-1\nspec: 1.1"),
            Some((RuntimeFamily::Gvisor, "runsc release-1".to_owned()))
        );
        assert_eq!(parsed("youki version 0.5.0").map(|(family, _)| family), Some(RuntimeFamily::Other));
        assert_eq!((parsed("true (GNU coreutils) 9.1"), parsed(""), parsed("runc version")), (None, None, None));
    }

    #[test]
    fn an_option_is_found_by_its_whole_name() {
        assert!(option(OLD, "platform").unwrap().contains("kvm"));
        assert!(!option(OLD, "ignore-cgroups").unwrap().contains("overlay2"));
        assert_eq!((option(OLD, "file-access"), option(OLD, "directfs")), (None, None));
        assert!(option("  -platform=systrap: which platform", "platform").is_some());
    }

    #[test]
    fn gvisor_is_told_what_it_has_and_nothing_else() {
        let told = |flags: &str, platform, directfs| {
            let wanted = GvisorSettings { platform, directfs, ..GvisorSettings::default() };
            let gvisor = decide(flags, wanted, "runsc 1")?;
            Ok::<_, String>((gvisor.platform, gvisor.directfs, gvisor.directfs_told))
        };
        let new = new();
        let fits = |platform: &str, directfs, told: &str| Ok((platform.to_owned(), directfs, told.to_owned()));
        assert_eq!(told(&new, WantedPlatform::Auto, None), fits("systrap", None, "true, by default"));
        assert_eq!(told(OLD, WantedPlatform::Auto, None), fits("ptrace", None, "false, since this runsc cannot do it"));
        assert_eq!(told(&new, WantedPlatform::Kvm, Some(false)), fits("kvm", Some(false), "false"));
        let old = told(OLD, WantedPlatform::Ptrace, Some(false));
        assert_eq!(old, fits("ptrace", None, "false, since this runsc cannot do it"));
        let why = told(OLD, WantedPlatform::Systrap, None).unwrap_err();
        assert!(why.starts_with("runsc 1 has no platform systrap"), "{why}");
        let why = told(OLD, WantedPlatform::Auto, Some(true)).unwrap_err();
        assert!(why.starts_with("runsc 1 has no option --directfs"), "{why}");
        let why = told("  -platform string", WantedPlatform::Auto, None).unwrap_err();
        assert!(why.starts_with("runsc 1 is too old: it has no option --ignore-cgroups"), "{why}");
    }
}
