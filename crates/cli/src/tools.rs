//! System programs that runs use: what needs them, where they are, and Debian's package for each.

use crate::exit::EndedWith;
use crate::host;
use std::path::{Path, PathBuf};
use study::{TypedCell, TypedPlan};

#[derive(Debug)]
pub struct FoundTool {
    pub program: &'static str,
    pub package: &'static str,
    pub purpose: &'static str,
    need: Need,
}

/// Which runs need a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Every,
    /// Runs with a contender on this platform.
    Platform(&'static str),
    /// As above, unless started by root, which has another way.
    UserOnPlatform(&'static str),
    /// As above, if started by root.
    RootOnPlatform(&'static str),
    /// Runs with a contender on platform oci that names this runtime.
    Runtime(&'static str),
    /// Runs with a machine or load generators on another host that is reached by ssh.
    OverSsh,
    /// Runs that find no image in the cache; the build itself says what is missing.
    Building,
}

pub const TOOLS: &[FoundTool] = &[
    tool("qemu-system-x86_64", "qemu-system-x86", "platform qemu", Need::Platform("qemu")),
    tool("bwrap", "bubblewrap", "platform native", Need::UserOnPlatform("native")),
    tool("mount", "mount", "platform native", Need::RootOnPlatform("native")),
    tool("setpriv", "util-linux", "processes that die with the run", Need::Every),
    tool("taskset", "util-linux", "machines on the shape's CPUs", Need::Every),
    tool("mmdebstrap", "mmdebstrap", "building images", Need::Building),
    tool("mke2fs", "e2fsprogs", "making disks", Need::Building),
];

/// Only runs that name one of these need it.
pub const RUNTIMES: &[FoundTool] = &[
    tool("runc", "runc", "runtime = \"runc\" on platform oci", Need::Runtime("runc")),
    tool("crun", "crun", "runtime = \"crun\" on platform oci", Need::Runtime("crun")),
    tool("runsc", "runsc", "runtime = \"runsc\" (gVisor) on platform oci", Need::Runtime("runsc")),
];

/// Only runs that use other hosts need these.
pub const OF_OTHER_HOSTS: &[FoundTool] = &[
    tool("ssh", "openssh-client", "other hosts", Need::OverSsh),
    tool("tar", "tar", "platform host", Need::Platform("host")),
];

/// Folders beyond PATH in which Debian keeps tools for administrators.
const MORE_FOLDERS: &[&str] = &["/usr/sbin", "/sbin"];

const fn tool(program: &'static str, package: &'static str, purpose: &'static str, need: Need) -> FoundTool {
    FoundTool { program, package, purpose, need }
}

impl FoundTool {
    pub fn find(&self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders =
            std::env::split_paths(&path).chain(MORE_FOLDERS.iter().map(|folder| Path::new(folder).to_owned()));
        folders.map(|folder| folder.join(self.program)).find(|file| file.is_file())
    }

    fn is_needed_for(&self, plan: &TypedPlan, is_over_ssh: bool) -> bool {
        match self.need {
            Need::Every => true,
            Need::Platform(kind) => is_on(plan, kind),
            Need::UserOnPlatform(kind) => is_on(plan, kind) && !rustix::process::geteuid().is_root(),
            Need::RootOnPlatform(kind) => is_on(plan, kind) && rustix::process::geteuid().is_root(),
            Need::Runtime(name) => plan.planned().any(|cell| cell.platform.runtime() == Some(name)),
            Need::OverSsh => {
                is_over_ssh && (is_on(plan, "host") || plan.planned().any(|cell| !cell.load.from.is_empty()))
            }
            Need::Building => false,
        }
    }
}

/// True if a trial of the plan runs on this platform. Data are loaded natively, whatever the contenders.
fn is_on(plan: &TypedPlan, kind: &str) -> bool {
    kind == "native" || plan.planned().any(|cell| cell.platform_kind() == kind)
}

/// True if this user, who is not root, was granted further ids for the users of an image.
pub fn may_map_ids() -> bool {
    let uid = rustix::process::geteuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    let given = std::fs::read_to_string("/etc/subuid").unwrap_or_default();
    let owners = given.lines().filter_map(|line| line.split(':').next());
    owners.into_iter().any(|owner| owner == uid || Some(owner) == name.as_deref())
}

/// The tools that trials of this plan need and this host lacks.
pub fn missing(plan: &TypedPlan, is_over_ssh: bool) -> Vec<&'static FoundTool> {
    let needed =
        TOOLS.iter().chain(RUNTIMES).chain(OF_OTHER_HOSTS).filter(|tool| tool.is_needed_for(plan, is_over_ssh));
    needed.filter(|tool| tool.find().is_none()).collect()
}

/// Fails unless this host has every tool that trials of this plan need, allows files of the needed size, and can log in where
/// machines are. Other hosts are reached by ssh, or by the lines of a fleet.
pub fn require_for(plan: &TypedPlan, is_over_ssh: bool) -> Result<(), EndedWith> {
    host::require_large_files(plan)?;
    let without = |cell: &TypedCell| {
        let why = cell.platform.without_login(&host::credentials())?;
        Some(format!("contender {}: {why}", cell.written.contender))
    };
    if let Some(lack) = plan.planned().find_map(without) {
        return Err(EndedWith::host(lack));
    }
    let missing = missing(plan, is_over_ssh);
    if missing.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = missing.iter().map(|tool| format!("  {}, for {}\n", tool.program, tool.purpose)).collect();
    let mut packages: Vec<&str> = missing.iter().map(|tool| tool.package).collect();
    packages.dedup();
    Err(EndedWith::host(format!(
        "this host lacks tools that the study needs:\n{}on Debian: apt-get install {}",
        lines.concat(),
        packages.join(" ")
    )))
}
