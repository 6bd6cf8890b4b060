//! What confines a QEMU that a hostile guest has taken over: a system call filter, and a user that owns nothing.
//!
//! QEMU opens its files with the rights that it was started with, and then becomes that user. But a process that
//! changes its user loses the parent-death signal. So it runs in a process namespace whose first process keeps that
//! signal, and which ends with that process. If no such namespace is possible, QEMU keeps its user: it is more
//! important that nothing is left behind.

use super::settings::PROGRAM;
use crate::rights::{CONTAINED, can_contain};
use machines::machine::Decisions;
use machines::process::Launch;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// The last user id that neither Debian nor systemd assigns. It is not `nobody`, because other programs run as that.
const USER: u32 = 65533;
/// First process of a namespace: waits for its program and ends with the same status, but silently, unlike other shells.
pub(super) const FIRST: &str = r#"exec 3>&2 2> /dev/null; (exec "$@" 2>&3 3>&-); exit $?"#;
/// A shell adds this to the number of the signal that ended a program.
pub const SIGNALLED: i32 = 128;
/// A QEMU without a machine ends within this.
const LIMIT: Duration = Duration::from_secs(20);
const QUIT: &str = r#"{"execute":"qmp_capabilities"}{"execute":"quit"}"#;

/// The option by which QEMU becomes another user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// From QEMU 9.1 on.
    RunWith,
    RunAs,
}

/// The means that confine this QEMU here, or why they cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Isolation {
    pub sandbox: Result<(), String>,
    /// `None` if we are not root, since QEMU then needs no other user.
    pub user: Option<Result<Switch, String>>,
}

impl Isolation {
    /// What is possible here, tested by starting QEMU without a machine. It does not change while we run.
    pub fn here() -> &'static Self {
        static HERE: OnceLock<Isolation> = OnceLock::new();
        HERE.get_or_init(|| {
            let user = rustix::process::geteuid().is_root().then(switch);
            let without_sandbox = Self { sandbox: Err(String::new()), user };
            let with_sandbox = Self { sandbox: Ok(()), ..without_sandbox.clone() };
            match accepted(&with_sandbox.options()) {
                Ok(()) => with_sandbox,
                Err(why) => Self { sandbox: Err(why), ..without_sandbox },
            }
        })
    }

    fn switch(&self) -> Option<Switch> {
        self.user.as_ref().and_then(|user| user.as_ref().ok().copied())
    }

    /// True if QEMU is in a namespace.
    pub fn is_contained(&self) -> bool {
        self.switch().is_some()
    }

    /// The words before QEMU's own.
    pub fn words(&self) -> Vec<String> {
        let first = ["sh", "-c", FIRST, "first"];
        let words = CONTAINED.iter().chain(&first).map(|word| (*word).to_owned());
        if self.is_contained() { words.collect() } else { Vec::new() }
    }

    pub fn options(&self) -> Vec<String> {
        let user = self.switch();
        let mut options = Vec::new();
        if self.sandbox.is_ok() {
            // If QEMU must become another user, it needs those system calls until then. Afterwards it has no rights to
            // pass on.
            let rights = if user.is_some() { "allow" } else { "deny" };
            let deny = format!("on,obsolete=deny,elevateprivileges={rights},spawn=deny,resourcecontrol=deny");
            options.extend(["-sandbox".to_owned(), deny]);
        }
        options.extend(user.into_iter().flat_map(Switch::options));
        options
    }

    /// The process id of QEMU itself, given the started process.
    pub fn emulator(&self, started: u32) -> io::Result<u32> {
        if self.is_contained() { only_child(only_child(started)?) } else { Ok(started) }
    }

    /// Adds to `decided` what the kernel reports about the isolation of the QEMU with id `process`.
    pub fn settle(&self, process: u32, decided: &mut Decisions) {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let sandbox = self.sandbox.clone().and_then(|()| match field(&status, "Seccomp") {
            Some("2") => Ok("QEMU's system calls are filtered".to_owned()),
            other => Err(format!("the kernel has Seccomp {other:?} for QEMU")),
        });
        let runs_as = field(&status, "Uid").unwrap_or("?").to_owned();
        let user = match &self.user {
            None => Ok(format!("{runs_as}, who started it")),
            Some(Err(why)) => Err(why.clone()),
            Some(Ok(_)) if runs_as == USER.to_string() => Ok(format!("{runs_as}, who owns nothing")),
            Some(Ok(_)) => Err(format!("QEMU was to become {USER} and is {runs_as}")),
        };
        decided.extend([("sandbox".to_owned(), sandbox), ("user".to_owned(), user)]);
    }
}

impl Switch {
    fn options(self) -> [String; 2] {
        match self {
            Self::RunWith => ["-run-with".to_owned(), format!("user={USER}:{USER}")],
            Self::RunAs => ["-runas".to_owned(), format!("{USER}:{USER}")],
        }
    }
}

/// The first way that works, or why none does.
fn switch() -> Result<Switch, String> {
    if !can_contain() {
        return Err("process namespaces cannot be had here, without which it could outlive its run".to_owned());
    }
    if !Path::new("/proc/thread-self/children").exists() {
        return Err("the kernel does not list the children of a process".to_owned());
    }
    let tried = |switch: Switch| accepted(&switch.options()).map(|()| switch);
    tried(Switch::RunWith).or_else(|_| tried(Switch::RunAs))
}

/// Fails with QEMU's message if QEMU does not start with these options.
fn accepted(options: &[String]) -> Result<(), String> {
    let words = [PROGRAM, "-M", "none", "-nodefaults", "-no-user-config", "-display", "none", "-qmp", "stdio"];
    let words: Vec<&str> = words.into_iter().chain(options.iter().map(String::as_str)).collect();
    let tried = || -> Result<(), Box<dyn std::error::Error>> {
        let (stdin, mut asks) = io::pipe()?;
        asks.write_all(QUIT.as_bytes())?;
        let ended = Launch::new(&words).stdin(stdin).run_to_any_end(LIMIT, &mut |_| ())?;
        if ended.status.success() {
            return Ok(());
        }
        Err(ended.stderr.lines().last().map_or_else(|| ended.status.to_string(), str::to_owned).into())
    };
    tried().map_err(|error| format!("QEMU does not start with {}: {error}", options.join(" ")))
}

fn only_child(process: u32) -> io::Result<u32> {
    let path = format!("/proc/{process}/task/{process}/children");
    let children = std::fs::read_to_string(&path)?;
    let first = children.split_ascii_whitespace().next().and_then(|child| child.parse().ok());
    first.ok_or_else(|| io::Error::other(format!("{path} reads {children:?}")))
}

/// The threads of a process, by the ids that it knows itself; these differ in a namespace.
pub fn threads(process: u32) -> io::Result<BTreeMap<u32, u32>> {
    let mut threads = BTreeMap::new();
    for entry in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let path = entry?.path();
        // A thread that has just ended is left out, since nothing asks for it.
        let Ok(status) = std::fs::read_to_string(path.join("status")) else { continue };
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        let mut numbers = numbers.split_ascii_whitespace().filter_map(|number| number.parse().ok());
        if let Some(outside) = numbers.next() {
            threads.insert(numbers.next_back().unwrap_or(outside), outside);
        }
    }
    Ok(threads)
}

/// The first value of a line of `/proc/PID/status`.
pub(crate) fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line?.split_ascii_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_becomes_another_user_may_do_that_and_nothing_more() {
        let both = Isolation { sandbox: Ok(()), user: Some(Ok(Switch::RunAs)) };
        assert_eq!(
            both.options().join(" "),
            "-sandbox on,obsolete=deny,elevateprivileges=allow,spawn=deny,resourcecontrol=deny -runas 65533:65533"
        );
        let own = Isolation { sandbox: Ok(()), user: None };
        assert_eq!(
            own.options().join(" "),
            "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
        );
        assert!(both.is_contained() && !both.words().is_empty() && own.words().is_empty());
        let neither = Isolation { sandbox: Err("no".to_owned()), user: Some(Err("no".to_owned())) };
        assert!(neither.options().is_empty() && neither.words().is_empty());
        let mut decided = Decisions::new();
        neither.settle(std::process::id(), &mut decided);
        assert!(decided.values().all(Result::is_err), "{decided:?}");
    }

    #[test]
    fn a_thread_without_a_namespace_has_one_number() {
        let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        let threads = threads(std::process::id()).unwrap();
        // Tests may run in a namespace themselves; then the last number is the one known inside.
        assert!(threads.contains_key(&own), "{threads:?}");
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        assert_eq!(field(&status, "Seccomp_filters").is_some(), status.contains("Seccomp_filters:"));
        assert_eq!(field("Uid:\t1\t2\n", "Uid"), Some("1"));
    }
}
