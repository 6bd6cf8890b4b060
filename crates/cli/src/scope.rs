//! A scope of systemd, in which machines can be held to their limits. Other users than root may make groups nowhere else, and for
//! root systemd passes no memory nodes on unless a unit asks for it.

use machines::cgroup;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Set for the process in the scope, which must not ask for another.
const ENTERED: &str = "BAKEOFF_SCOPE";
const SCOPE: [&str; 6] = ["--scope", "--quiet", "--collect", "--property=Delegate=yes", "--", "env"];

/// Sees to it that machines can have control groups, as far as this user may. If only systemd can do that, this process goes on as
/// the same command in a scope, and does not come back here.
pub fn enter() {
    let has_entered = std::env::var_os(ENTERED).is_some();
    if cgroup::settle().is_ok() || has_entered || !cgroup::is_one_tree() {
        return;
    }
    let Ok(own) = std::env::current_exe() else { return };
    let scope = || {
        let mut command = Command::new("systemd-run");
        command.args((!rustix::process::geteuid().is_root()).then_some("--user"));
        command.arg(format!("--unit=bakeoff-{}", std::process::id()));
        command.args(SCOPE).arg(format!("{ENTERED}=1"));
        command
    };
    let tried = scope().arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if tried.is_ok_and(|status| status.success()) {
        // It returns only if it fails; then limits are reported as missing, each with its reason.
        let _ = scope().arg(own).args(std::env::args_os().skip(1)).exec();
    }
}
