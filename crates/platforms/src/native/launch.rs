//! One attempt to start a native machine, and the reason if it does not come up.

use super::command::{Confinement, NativeOrder, command_line};
use crate::on_host::data::{DataPlace, NOT_MOUNTED_STATUS, why_not_mounted};
use crate::on_host::launch::{LaunchEnd, StartedMachine, attempt};
use crate::order::{Launched, MachineOrder};
use crate::rights::{confining_refused, mounting_refused};
use machines::machine::MachineError;
use std::process::ExitStatus;

/// The outcome of one attempt.
pub(super) enum LaunchOutcome {
    Greeted(StartedMachine),
    /// Mounts are not allowed here; the text is from `mount`.
    NotMounted(String),
    /// Bubblewrap is missing, or it lacks rights that it needs.
    NotConfined(MachineError),
}

pub(super) fn launch(
    command: &NativeOrder,
    order: &MachineOrder,
    launched: Launched<'_>,
) -> Result<LaunchOutcome, MachineError> {
    match attempt(&command_line(command), order, what(&order.name), launched)? {
        LaunchEnd::Greeted(started) => Ok(LaunchOutcome::Greeted(started)),
        LaunchEnd::Ended(status, console) => explain(status, console, &order.name, command),
    }
}

/// Why a machine ended before its agent greeted. This makes the same surroundings again for a program that does
/// nothing. If that fails, it is the reason.
fn explain(
    status: ExitStatus,
    console: String,
    name: &str,
    command: &NativeOrder,
) -> Result<LaunchOutcome, MachineError> {
    if status.code() == Some(NOT_MOUNTED_STATUS) {
        return Ok(LaunchOutcome::NotMounted(why_not_mounted(&console)));
    }
    let mounts =
        matches!(command.data, DataPlace::Disk { .. }) || matches!(command.confinement, Confinement::Chroot(_));
    match mounts.then(mounting_refused).flatten() {
        None => {}
        Some(MachineError::Unavailable { why }) => return Ok(LaunchOutcome::NotMounted(why)),
        Some(other) => return Err(other),
    }
    match (&command.confinement, confining_refused()) {
        (Confinement::Bubblewrap, Some(why)) => Ok(LaunchOutcome::NotConfined(why)),
        _ => Err(MachineError::Ended { what: what(name), status: status.to_string(), console }),
    }
}

pub(super) fn what(name: &str) -> String {
    format!("the native machine {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    /// The last line may come from the agent itself and not from the programs around it.
    #[test]
    fn an_agent_that_ends_is_not_taken_for_a_missing_right() {
        if mounting_refused().is_some() || confining_refused().is_some() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (path, answer) = (folder.path().join("disk"), folder.path().join("answer"));
        let command = NativeOrder {
            cpus: vec![0],
            contained: false,
            confinement: Confinement::Bubblewrap,
            tree: "/".into(),
            agent: "/bin/true".into(),
            data: DataPlace::Disk {
                path,
                is_device: false,
                tuning: machines::boot::DataTuning::default(),
                folder: folder.path().into(),
                answer,
            },
            cgroups: Vec::new(),
            memory_policy: None,
            writable: Vec::new(),
        };
        let explained =
            |code: i32, said: &str| explain(ExitStatus::from_raw(code << 8), said.to_owned(), "machine", &command);
        for (code, said) in [(1, "unshare: the agent says"), (1, "bwrap: so it says"), (127, "sh: 1: not found")] {
            let Err(MachineError::Ended { console, .. }) = explained(code, said) else { panic!("{said}") };
            assert_eq!(console, said);
        }
        let said = "mount: no loop device\n       dmesg(1) may have more information.";
        let mounted = explained(NOT_MOUNTED_STATUS, said).unwrap();
        assert!(matches!(mounted, LaunchOutcome::NotMounted(why) if why == "mount: no loop device"));
    }
}
