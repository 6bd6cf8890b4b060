//! What this host allows us to do, found out by harmless trials.
//!
//! Only the exit status of a trial counts, not its output: messages change with the version and may come from another
//! program. They are only shown to the user.

use machines::limits::{self, OPEN_FILES};
use machines::machine::MachineError;
use machines::process::{Launch, ProcessError, ProgramEnd};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// Runs the rest of the command line in a process namespace that ends with us, with a `/proc` of its own: bubblewrap and container
/// runtimes look up there what runs in it. Bubblewrap alone is not enough: its second process notices a dead parent only after the
/// parent has let it continue. If the parent is killed before, it waits for ever.
pub const CONTAINED: [&str; 6] = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "--"];
/// Runs the rest of the command line in a mount namespace.
pub const MOUNTING: [&str; 5] = ["unshare", "--mount", "--propagation", "private", "--"];
const AS_ROOT_OF_MANY: [&str; 9] =
    ["unshare", "--user", "--map-root-user", "--map-auto", "--pid", "--fork", "--mount-proc", "--kill-child", "--"];
const AS_ROOT_OF_ONE: [&str; 8] =
    ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child", "--"];
/// Everything that a machine needs from bubblewrap.
const CONFINING: &str = "--die-with-parent --unshare-pid --unshare-ipc --ro-bind / / --dev /dev --proc /proc --";
const UTIL_LINUX: &str = "util-linux";
/// A program and its package.
const NUMACTL: &str = "numactl";
/// Making surroundings for a program that does nothing.
const LIMIT: Duration = Duration::from_secs(30);

/// True if we may make process namespaces. Without them there is no second guarantee that nothing outlives us.
pub fn can_contain() -> bool {
    refused(CONTAINED[0], &CONTAINED[1..], UTIL_LINUX).is_none()
}

/// Why we may not make mount namespaces; `None` if we may.
pub fn mounting_refused() -> Option<MachineError> {
    refused(MOUNTING[0], &MOUNTING[1..], UTIL_LINUX)
}

/// Why bubblewrap cannot do what machines need; `None` if it can.
pub fn confining_refused() -> Option<MachineError> {
    refused("bwrap", &CONFINING.split(' ').collect::<Vec<_>>(), "bubblewrap")
}

/// Why no process can be started whose memory comes from these nodes; `None` if one can. It needs no right.
pub fn binding_refused(nodes: &str) -> Option<MachineError> {
    refused(NUMACTL, &[&member_of(nodes)], NUMACTL)
}

/// Runs the rest of the command line with a policy for its memory, which all its processes inherit.
pub fn binding(nodes: &str) -> [String; 2] {
    [NUMACTL.to_owned(), member_of(nodes)]
}

/// How many files a process of a machine on this host may have open.
pub fn open_files() -> u64 {
    static OPEN: OnceLock<u64> = OnceLock::new();
    let wanted = format!("--nofile={OPEN_FILES}:{OPEN_FILES}");
    let is_refused = || refused("prlimit", &[&wanted], UTIL_LINUX).is_some();
    *OPEN.get_or_init(|| if is_refused() { limits::open_files() } else { OPEN_FILES })
}

fn member_of(nodes: &str) -> String {
    format!("--membind={nodes}")
}

/// The namespaces around a container's runtime, by who makes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespaces {
    Root,
    /// Of another user, who becomes root there and has the subordinate ids that were granted to them.
    ManyUsers,
    /// Of another user, who becomes root there and is the only user.
    OneUser,
}

impl Namespaces {
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Root => &CONTAINED,
            Self::ManyUsers => &AS_ROOT_OF_MANY,
            Self::OneUser => &AS_ROOT_OF_ONE,
        }
    }

    /// The best that we may make.
    pub fn here() -> Result<Self, MachineError> {
        let refused = |namespaces: Self| refused(namespaces.words()[0], &namespaces.words()[1..], UTIL_LINUX);
        if rustix::process::geteuid().is_root() {
            return refused(Self::Root).map_or(Ok(Self::Root), Err);
        }
        if refused(Self::ManyUsers).is_none() {
            return Ok(Self::ManyUsers);
        }
        refused(Self::OneUser).map_or(Ok(Self::OneUser), Err)
    }
}

/// The switch of this host's kernel that forbids users namespaces, and the remedy. Programs print only that they may not.
fn restriction(root: &Path) -> Option<String> {
    let switches = [
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("user.max_user_namespaces", "0", "10000"),
    ];
    let is_set = |name: &str, closed: &str| {
        let file = root.join("proc/sys").join(name.replace('.', "/"));
        fs::read_to_string(file).is_ok_and(|value| value.trim() == closed)
    };
    let (name, _, open) = switches.into_iter().find(|(name, closed, _)| is_set(name, closed))?;
    Some(format!(", because users may make no namespaces here: sysctl {name}={open}, or run as root"))
}

/// Runs `true` in surroundings made by a program; returns why that failed.
fn refused(program: &'static str, words: &[&str], package: &'static str) -> Option<MachineError> {
    let words: Vec<&str> = [program].iter().chain(words).chain(&["true"]).copied().collect();
    match Launch::new(&words).run_to_any_end(LIMIT, &mut |_| ()) {
        Ok(ended) if ended.status.success() => None,
        Ok(ProgramEnd { status, stderr, .. }) => {
            let why = stderr.lines().last().map_or_else(|| format!("{program} ended ({status})"), str::to_owned);
            let by_whom = restriction(Path::new("/")).filter(|_| !rustix::process::geteuid().is_root());
            Some(MachineError::Unavailable { why: format!("{why}{}", by_whom.unwrap_or_default()) })
        }
        Err(ProcessError::Missing { .. }) => Some(MachineError::MissingTool { program, package }),
        Err(error) => Some(MachineError::Io { doing: format!("trying {program}"), source: io::Error::other(error) }),
    }
}

#[cfg(test)]
mod tests {
    use super::{UTIL_LINUX, refused, restriction};
    use machines::machine::MachineError;

    /// Ubuntu's since 23.10, as its documentation has it.
    #[test]
    fn a_switch_that_forbids_namespaces_is_named_with_its_remedy() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(restriction(root.path()), None);
        let kernel = root.path().join("proc/sys/kernel");
        std::fs::create_dir_all(&kernel).unwrap();
        std::fs::write(kernel.join("unprivileged_userns_clone"), "1\n").unwrap();
        assert_eq!(restriction(root.path()), None);
        std::fs::write(kernel.join("apparmor_restrict_unprivileged_userns"), "1\n").unwrap();
        let told = restriction(root.path()).unwrap();
        assert!(told.contains("sysctl kernel.apparmor_restrict_unprivileged_userns=0, or run as root"), "{told}");
    }

    #[test]
    fn what_ends_badly_is_refused_in_its_own_words() {
        assert!(refused("env", &[], UTIL_LINUX).is_none());
        let told = refused("sh", &["-c", "echo first >&2; echo 'not for you' >&2; exit 1"], UTIL_LINUX).unwrap();
        assert!(matches!(&told, MachineError::Unavailable { why } if why == "not for you"), "{told}");
        let told = refused("no-such-program", &[], "its-package").unwrap();
        assert!(matches!(told, MachineError::MissingTool { program: "no-such-program", package: "its-package" }));
    }
}
